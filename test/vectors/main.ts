// `npm run vectors`: replays every table of a folder, prints matched and total, and fails if a case of the baseline no longer matches.
//
//   npm run vectors -- --dir ../other/vectors --only audit --differences
//   npm run vectors -- --write-baseline

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findVectors, readBaseline, writeBaseline } from './baseline.js'
import { tables } from './tables.js'

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    /** Selects files whose name contains one of these strings, separated by commas. */
    only: { type: 'string' },
    differences: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
  },
})

const dir = values.dir ?? findVectors()
if (dir === undefined) {
  console.error('no tables found: set the folder with --dir')
  process.exit(1)
}

const nameParts = values.only?.split(',')
const files = readdirSync(dir)
  .filter((file) => file.endsWith('.json') && (nameParts === undefined || nameParts.some((part) => file.includes(part))))
  .sort()

const previous = readBaseline()
const baseline: { [file: string]: readonly string[] } = { ...previous }
let lostMatches = 0

for (const file of files) {
  const replay = tables[file]
  const text = readFileSync(join(dir, file), 'utf8')
  if (replay === undefined) {
    console.log(`${file}: NOT REPLAYED, not implemented (${countCases(text)} cases)`)
    continue
  }
  const { compared, differences } = await replay(text)
  const matched = compared.filter((name) => !differences.has(name))
  console.log(`${file}: ${matched.length} of ${compared.length}`)
  if (values.differences) for (const [name, difference] of differences) console.log(`  ${name}\n    ${difference}`)
  for (const name of previous[file] ?? []) {
    const difference = differences.get(name)
    if (difference === undefined) continue
    lostMatches++
    console.log(`  no longer matches: ${name}: ${difference}`)
  }
  baseline[file] = [...new Set([...(previous[file] ?? []).filter((name) => !differences.has(name)), ...matched])].sort()
}

function countCases(text: string): number {
  const table = JSON.parse(text) as unknown
  return Array.isArray(table) ? table.length : Object.keys(table as object).length
}

if (values['write-baseline']) writeBaseline(baseline)
process.exit(lostMatches > 0 && !values['write-baseline'] ? 1 : 0)
