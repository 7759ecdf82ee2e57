// Runs recorded tables of inputs and results as tests, if VECTORS_ROOT exists: every case that baseline.json lists must match.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findVectors, readBaseline } from './baseline.js'
import { tables } from './tables.js'

export function replayTables(isSelected: (file: string) => boolean): void {
  const root = findVectors()
  for (const [file, caseNames] of Object.entries(readBaseline()).filter(([name]) => isSelected(name))) {
    const path = join(root ?? '', file)
    const replay = tables[file]
    test(file, { skip: root === undefined || !existsSync(path) ? 'no tables found; set VECTORS_ROOT' : false }, async (t) => {
      assert.ok(replay, 'no function replays this table')
      const { compared, differences } = await replay(readFileSync(path, 'utf8'))
      t.diagnostic(`${compared.length - differences.size} of ${compared.length} match, ${caseNames.length} must`)
      const broken = caseNames.filter((name) => differences.has(name))
      assert.deepEqual(broken, [], `these matched before:\n${broken.map((name) => `${name}: ${differences.get(name)}`).join('\n')}\n`)
    })
  }
}
