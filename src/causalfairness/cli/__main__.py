"""How is the command line started without its script? `python -m causalfairness.cli`."""

from causalfairness.cli.app import main

if __name__ == "__main__":
    main()
