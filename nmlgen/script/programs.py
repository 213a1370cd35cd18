def run_program(name, arguments, stdin):
    return None
