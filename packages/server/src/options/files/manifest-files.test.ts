// Files of a folder: links to folders, also to themselves, and order.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { listManifests } from './manifest-files.js'

test('links are followed, and a folder is read once however many links lead to it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'manifest-files-'))
  try {
    mkdirSync(join(folder, 'sub'))
    for (const name of ['b.yaml', 'a.json', 'notes.txt', 'sub/c.yaml']) writeFileSync(join(folder, name), '')
    for (const name of ['self', 'again', 'sub/up']) symlinkSync(folder, join(folder, name))
    symlinkSync(join(folder, 'b.yaml'), join(folder, 'link.yaml'))
    symlinkSync(join(folder, 'missing'), join(folder, 'broken.yaml'))
    const names = listManifests(folder).map((path) => relative(folder, path))
    assert.deepEqual(names, ['a.json', 'b.yaml', 'broken.yaml', 'link.yaml', 'sub/c.yaml'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
