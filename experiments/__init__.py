"""What measures: benchmark, tournament, exploitability, leaderboard."""
