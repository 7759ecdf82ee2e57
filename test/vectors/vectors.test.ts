// The tables of the reference, where they are at hand: what matched before must match still.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { findVectors, readBaseline } from './baseline.js'
import { tables } from './tables.js'

const root = findVectors()

for (const [file, names] of Object.entries(readBaseline())) {
  const path = join(root ?? '', file)
  const replay = tables[file]
  test(file, { skip: root === undefined || !existsSync(path) ? 'there are no tables here; see VECTORS_ROOT' : false }, async (t) => {
    assert.ok(replay, 'nobody replays it any more')
    const { compared, differences } = await replay(readFileSync(path, 'utf8'))
    t.diagnostic(`${compared.length - differences.size} of ${compared.length} match, ${names.length} must`)
    const lost = names.filter((name) => differences.has(name))
    assert.deepEqual(lost, [], `these matched before:\n${lost.map((name) => `${name}: ${differences.get(name)}`).join('\n')}\n`)
  })
}
