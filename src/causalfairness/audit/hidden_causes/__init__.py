"""How strong would a hidden common cause have to be to change an answer of an audit?"""
