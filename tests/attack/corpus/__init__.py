"""What is attacked, and what with: sound files and calls of every command, bad files, and mutations."""
