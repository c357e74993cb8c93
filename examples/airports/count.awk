# Counts the rows and states of airports.csv, to compare with what the process makes of it.
# Any POSIX awk: awk -f count.awk airports.csv

# Takes the field that starts at the front of `rest`, without its quotes, and moves `rest` behind the next comma.
function field(   text, i, c) {
  if (substr(rest, 1, 1) != "\"") {
    i = index(rest, ",")
    text = i == 0 ? rest : substr(rest, 1, i - 1)
    rest = i == 0 ? "" : substr(rest, i + 1)
    return text
  }
  text = ""
  for (i = 2; i <= length(rest); i++) {
    c = substr(rest, i, 1)
    if (c == "\"") {
      if (substr(rest, i + 1, 1) != "\"") break
      i++
    }
    text = text c
  }
  rest = substr(rest, i + 2)
  return text
}

NR == 1 {
  if ($0 != "iata,name,city,state,country,latitude,longitude") { print "unexpected header: " $0; exit 1 }
  next
}

{
  rest = $0
  iata = field(); name = field(); city = field(); state = field()
  rows++
  if (state == "" || state == "NA") { missing++; without = without " " iata }
  else if (!(state in airports)) { airports[state] = 1; states++ }
  else airports[state]++
}

END {
  printf "rows %d\nstates %d\nrows without state %d:%s\n", rows, states, missing, without
  for (state in airports) print state, airports[state] | "sort"
}
