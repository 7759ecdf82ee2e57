// tar archives: compared with the program tar in both directions; hostile archives write nothing outside of the destination.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { archivePrefix, extractTo } from './extract.js'
import { type EntryType, paddingOf, type WrittenEntry, writeHeader } from './tar-header.js'
import { TarReader } from './tar-reader.js'
import { tarOf } from './tar-writer.js'

describe('tar', () => {
  const root = mkdtempSync(join(tmpdir(), 'clusterctl-tar-'))
  after(() => rmSync(root, { recursive: true, force: true }))
  const newFolder = (): string => mkdtempSync(join(root, 'folder-'))

  /** A folder with names of all lengths around the limits of ustar, and contents around the block size. */
  function makeTree(): string {
    const folder = join(newFolder(), 'tree')
    mkdirSync(join(folder, 'empty'), { recursive: true })
    for (const length of [1, 90, 99, 100, 101, 155, 156, 200, 255]) writeFileSync(join(folder, 'n'.repeat(length)), String(length))
    for (const length of [0, 1, 511, 512, 513, 70_000]) writeFileSync(join(folder, `size-${length}`), Buffer.alloc(length, length & 255))
    const deep = join(folder, 'd'.repeat(150), 'e'.repeat(150))
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(deep, 'ü'.repeat(60)), 'deep')
    symlinkSync('size-1', join(folder, 'short-link'))
    symlinkSync('l'.repeat(140), join(folder, 'long-link'))
    return folder
  }

  const assertSame = (a: string, b: string): void =>
    assert.equal(execFileSync('diff', ['-r', '--no-dereference', a, b], { encoding: 'utf8' }), '')

  async function extract(archive: Buffer, chunkBytes: number, settings: { readonly prefix: string; readonly destination: string }) {
    const warnings: string[] = []
    const reader = extractTo({ ...settings, warn: (text) => warnings.push(text) })
    for (let i = 0; i < archive.length; i += chunkBytes) await reader.push(archive.subarray(i, i + chunkBytes))
    reader.finish()
    return warnings
  }

  test('the program tar extracts what we write', () => {
    const tree = makeTree()
    const target = newFolder()
    execFileSync('tar', ['-xmf', '-', '-C', target], { input: Buffer.concat([...tarOf(tree, 'copy')]) })
    assertSame(tree, join(target, 'copy'))
  })

  for (const format of ['gnu', 'pax', 'ustar'])
    for (const chunkBytes of [100, 512, 100_000])
      test(`we extract what the program tar writes as ${format}, in chunks of ${chunkBytes} bytes`, async () => {
        const tree = makeTree()
        if (format === 'ustar') for (const name of readdirSync(tree)) if (name.length > 100) rmSync(join(tree, name), { recursive: true })
        if (format === 'ustar') rmSync(join(tree, 'long-link'))
        linkSync(join(tree, 'size-513'), join(tree, 'size-linked'))
        const archive = execFileSync('tar', [`--format=${format}`, '-cf', '-', tree], { stdio: ['ignore', 'pipe', 'ignore'] })
        const destination = join(newFolder(), 'copy')
        const warnings = await extract(archive, chunkBytes, { prefix: archivePrefix(tree), destination })
        assert.ok(warnings.every((text) => text.startsWith('skipping symlink')))
        for (const link of ['short-link', 'long-link']) rmSync(join(tree, link), { force: true })
        assertSame(tree, destination)
      })

  const entry = (name: string, type: EntryType = 'file', data = '', linkName = ''): Buffer => {
    const size = Buffer.byteLength(data)
    const header: WrittenEntry = { name, type, size, linkName, mode: 0o644, uid: 0, gid: 0, mtimeSeconds: 0 }
    return Buffer.concat([writeHeader(header), Buffer.from(data), Buffer.alloc(paddingOf(size))])
  }
  const archiveOf = (...entries: readonly Buffer[]): Buffer => Buffer.concat([...entries, Buffer.alloc(1024)])

  test('names outside of the destination are skipped or refused', async () => {
    const folder = newFolder()
    const destination = join(folder, 'in')
    const warnings = await extract(archiveOf(entry('src/../../out', 'file', 'x'), entry('src/ok', 'file', 'y')), 512, {
      prefix: 'src',
      destination,
    })
    assert.deepEqual(warnings, [`file ${JSON.stringify(join(folder, '..', 'out'))} is outside target destination, skipping`])
    assert.deepEqual([readdirSync(folder), readdirSync(destination)], [['in'], ['ok']])
    for (const name of ['/etc/x', 'other', 'srcs/x', '../x'])
      await assert.rejects(extract(archiveOf(entry(name)), 512, { prefix: 'src', destination }), /tar contents corrupted/, name)
  })

  test('symlinks are neither created nor followed', async () => {
    const folder = newFolder()
    const destination = join(folder, 'in')
    const secret = join(folder, 'secret')
    mkdirSync(destination)
    writeFileSync(secret, 'kept')
    symlinkSync(folder, join(destination, 'door'))
    symlinkSync(secret, join(destination, 'file'))
    const warnings = await extract(
      archiveOf(
        entry('src/new', 'symlink', '', folder),
        entry('src/door/secret', 'file', 'stolen'),
        entry('src/door/made', 'directory'),
        entry('src/file', 'file', 'stolen'),
        entry('src/hard', 'hardlink', '', 'src/file'),
        entry('src/hard2', 'hardlink', '', 'src/door/secret'),
        entry('src/hard3', 'hardlink', '', 'src/../../secret'),
      ),
      700,
      { prefix: 'src', destination },
    )
    assert.equal(warnings.length, 8, warnings.join('\n'))
    assert.equal(readFileSync(secret, 'utf8'), 'kept')
    assert.deepEqual(readdirSync(folder).sort(), ['in', 'secret'])
    for (const name of ['hard', 'hard2', 'hard3', 'new']) assert.equal(existsSync(join(destination, name)), false, name)
  })

  test('invalid archives are errors', async () => {
    const read = async (archive: Buffer): Promise<void> => {
      const reader = new TarReader(() => undefined)
      await reader.push(archive)
      reader.finish()
    }
    const valid = archiveOf(entry('a', 'file', 'x'.repeat(600)))
    await read(valid)
    await assert.rejects(read(valid.subarray(0, 700)), /unexpected EOF/)
    await assert.rejects(read(Buffer.from(valid).fill('b', 0, 1)), /checksum/)
    const large = writeHeader({ name: 'x', type: 'file', size: 2 ** 21, linkName: '', mode: 0, uid: 0, gid: 0, mtimeSeconds: 0 })
    large[156] = 120
    large.write('        ', 148, 'latin1')
    large.write(
      `${large
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
      'latin1',
    )
    await assert.rejects(read(large), /larger than/)
  })

  test('prefixes of archives', () => {
    for (const [path, prefix] of [
      ['/tmp/a/', 'tmp/a'],
      ['a', 'a'],
      ['./a/../b', 'b'],
      ['../../a', 'a'],
      ['.', ''],
      ['/', ''],
    ] as const)
      assert.equal(archivePrefix(path), prefix, path)
  })
})
