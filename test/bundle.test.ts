// What a start loads: parts that only some users need stay in files of their own, which are read when they are wanted.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { repoRoot } from './kit/paths.js'

const folder = join(repoRoot, 'dist', 'bundle')

/** A file and everything that it imports without being asked. */
function loadedBy(path: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(path)) return found
  const text = readFileSync(path, 'utf8')
  found.set(path, text)
  for (const [, next = ''] of text.matchAll(/^(?:import|export)[^'"]*['"](\.[^'"]+)['"]/gm)) loadedBy(join(dirname(path), next), found)
  return found
}

/** Words that only the part in question has. */
const parts = { 'the etcd engine': '/etcdserverpb.KV/Txn', 'moving data': 'usage: cluster-apiserver backup' }

test('a start loads neither the etcd engine nor the commands that move data', () => {
  const assemble = readdirSync(folder).find((name) => name.startsWith('assemble-')) ?? ''
  const loaded = new Map([...loadedBy(join(folder, 'main.js')), ...loadedBy(join(folder, assemble)), ...loadedBy(join(folder, 'index.js'))])
  assert.ok(loaded.size > 2)
  const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  for (const [part, word] of Object.entries(parts)) {
    assert.ok(
      all.some((text) => text.includes(word)),
      `${part} is in the bundle`,
    )
    assert.deepEqual(
      [...loaded].filter(([, text]) => text.includes(word)).map(([path]) => path),
      [],
      part,
    )
  }
})
