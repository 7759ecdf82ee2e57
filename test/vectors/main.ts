// The command behind `npm run vectors`: replays every table of a folder, prints matched and total for each, and fails when one that matched is lost.
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
    /** Words, one of which must be in the name of a file. */
    only: { type: 'string' },
    differences: { type: 'boolean', default: false },
    'write-baseline': { type: 'boolean', default: false },
  },
})

const dir = values.dir ?? findVectors()
if (dir === undefined) {
  console.error('there are no tables: name their folder with --dir')
  process.exit(1)
}

const words = values.only?.split(',')
const files = readdirSync(dir)
  .filter((file) => file.endsWith('.json') && (words === undefined || words.some((word) => file.includes(word))))
  .sort()

const known = readBaseline()
const baseline: { [file: string]: readonly string[] } = { ...known }
let lost = 0

for (const file of files) {
  const replay = tables[file]
  const text = readFileSync(join(dir, file), 'utf8')
  if (replay === undefined) {
    console.log(`${file}: NOT REPLAYED, nothing here computes it yet (${countCases(text)} cases)`)
    continue
  }
  const { compared, differences } = await replay(text)
  const matched = compared.filter((name) => !differences.has(name))
  console.log(`${file}: ${matched.length} of ${compared.length}`)
  if (values.differences) for (const [name, difference] of differences) console.log(`  ${name}\n    ${difference}`)
  for (const name of known[file] ?? []) {
    const difference = differences.get(name)
    if (difference === undefined) continue
    lost++
    console.log(`  no longer: ${name}: ${difference}`)
  }
  baseline[file] = [...new Set([...(known[file] ?? []).filter((name) => !differences.has(name)), ...matched])].sort()
}

function countCases(text: string): number {
  const table = JSON.parse(text) as unknown
  return Array.isArray(table) ? table.length : Object.keys(table as object).length
}

if (values['write-baseline']) writeBaseline(baseline)
process.exit(lost > 0 && !values['write-baseline'] ? 1 : 0)
