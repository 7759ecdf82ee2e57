// What a start loads: one script with compiled code beside it, for the command and for whoever embeds the server.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { platformFlags } from '../src/server/platform-flags.js'
import { repoRoot } from './kit/paths.js'

const folder = join(repoRoot, 'dist', 'bundle')

test('the folder holds a script for each command, and what leads to them', () => {
  const names = readdirSync(folder).filter((name) => !name.endsWith('.cache'))
  assert.deepEqual(names.sort(), [
    'LICENCES.txt',
    'browser.cjs',
    'client.cjs',
    'client.d.cts',
    'client.mjs',
    'clusterctl.cjs',
    'codec-schemas.cjs',
    'command.cjs',
    'index.cjs',
    'index.d.cts',
    'index.mjs',
    'local-patch.cjs',
    'package.json',
    're2js.cjs',
    'start-objects-cluster.bin',
    'start-objects-kubernetes.bin',
    'worker-entry.js',
  ])
})

test('the scripts are ASCII, as which they are read, and signs beyond that mean what they mean in the source', async () => {
  for (const name of ['command.cjs', 'clusterctl.cjs', 're2js.cjs'])
    assert.ok(
      readFileSync(join(folder, name)).every((byte) => byte < 128),
      name,
    )
  const server = await startServer({ flags: ['--event-ttl=3600000000\u00b5s'] })
  await server.close({ immediately: true })
})

/** Objects that all differ in their first key are slow to make, and a start makes more than a thousand. */
test('what is around each module has the same key', () => {
  for (const name of ['command.cjs', 'clusterctl.cjs']) {
    const text = readFileSync(join(folder, name), 'latin1')
    const keys = [...text.matchAll(/^var (?:init|require)_\w+=__\w+\(\{([^(\n]+)\(/gm)].map(([, key]) => key)
    assert.ok(keys.length > 200, `${name}: ${keys.length} modules`)
    assert.deepEqual([...new Set(keys)], ['load'], name)
  }
})

const cacheName = (): string => readdirSync(folder).find((name) => /^command-.*\.cache$/.test(name)) ?? ''

/** Loads the command of a folder in a process of its own: whether it found a code cache, and one that fits. */
function loadIn(root: string, before = ''): unknown {
  const script = `${before}
    const { script } = require(${JSON.stringify(join(root, 'bin', 'load-command.js'))}).loadCommand()
    console.log(JSON.stringify({ isRefused: script.cachedDataRejected ?? null }))`
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }))
}

test('the command is loaded with the code that was compiled for it', () => {
  assert.deepEqual(loadIn(repoRoot), { isRefused: false })
  assert.equal(readdirSync(folder).filter((name) => /^(?:command|clusterctl)-.*\.cache$/.test(name)).length, 2)
})

test('it is loaded whole where the system gives a little of a file at a time', () => {
  const littleAtATime = `const fs = require('node:fs')
    const { readSync } = fs
    fs.readSync = (file, bytes, at, length, position) => readSync(file, bytes, at, Math.min(length, 50_000), position)`
  assert.deepEqual(loadIn(repoRoot, littleAtATime), { isRefused: false })
})

test('what is needed after a start at the earliest is not loaded with the command', () => {
  const script = `require(${JSON.stringify(join(repoRoot, 'bin', 'load-command.js'))}).loadCommand()
    console.log(JSON.stringify(process.moduleLoadList))`
  const loaded: readonly string[] = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }))
  assert.ok(loaded.includes('NativeModule tls'))
  for (const later of ['child_process', 'fs/promises', 'http2', 'v8', 'worker_threads', 'zlib'])
    assert.ok(!loaded.includes(`NativeModule ${later}`), later)
})

test('a start and the first request read no other script', () => {
  const script = `const { startServer } = require(${JSON.stringify(join(folder, 'index.cjs'))})
    const run = async () => {
      const server = await startServer()
      await server.client.core.v1.namespaces().list()
      console.log(JSON.stringify(Object.keys(require.cache).map((path) => path.split('/').at(-1)).sort()))
      await server.close()
    }
    run()`
  assert.deepEqual(JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })), ['index.cjs', 'load-command.js'])
})

/** Which files a server on a new folder has loaded, in a process of its own, beside those of the command. */
function loadedBy(flags: readonly string[], env: Readonly<Record<string, string>> = {}): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), 'bundle-test-'))
  const options = { dataDir: join(root, 'data'), flags }
  const script = `const { startServer } = require(${JSON.stringify(join(folder, 'index.cjs'))})
    startServer(${JSON.stringify(options)}).then(async (server) => {
      await server.close()
      console.log(JSON.stringify(Object.keys(require.cache).map((path) => path.split('/').at(-1))))
    })`
  try {
    const names: readonly string[] = JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8', env }))
    return names.filter((name) => name !== 'index.cjs' && name !== 'load-command.js')
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

test('the library of the store is found at once, or by the package that looks everywhere', () => {
  const [atOnce = '', ...others] = loadedBy([])
  assert.match(atOnce, /\.node$/)
  assert.deepEqual(others, [])
  // Whoever asks for something has the package look for it, which reads its description.
  const libc = /musl/.test(atOnce) ? 'musl' : 'glibc'
  assert.deepEqual(loadedBy([], { LIBC: libc }), ['package.json', atOnce])
})

/** Which scripts with a code cache a server loads, in a process of its own, and whether the cache was good. */
function scriptsOf(options: object, nodeFlags: readonly string[] = []): Readonly<Record<string, boolean | null>> {
  const script = `const vm = require('node:vm')
    const loaded = {}
    const { Script } = vm
    vm.Script = class extends Script {
      constructor(text, options) {
        super(text, options)
        loaded[options.filename.split('/').at(-1)] = this.cachedDataRejected ?? null
      }
    }
    require(${JSON.stringify(join(folder, 'index.cjs'))}).startServer(${JSON.stringify(options)}).then(async (server) => {
      await server.close()
      console.log(JSON.stringify(loaded))
    })`
  return JSON.parse(execFileSync(process.execPath, [...nodeFlags, '-e', script], { encoding: 'utf8' }))
}

test('what reads patterns of users is loaded with the first of them, with the code that was compiled for it', () => {
  const flags = ['--cors-allowed-origins=^https://']
  assert.deepEqual(scriptsOf({}), { 'command.cjs': false })
  assert.deepEqual(scriptsOf({ flags }), { 'command.cjs': false, 're2js.cjs': false })
})

test('that code is good as well when the server has set flags of the platform', () => {
  // The command itself was loaded before that.
  const { 're2js.cjs': isRefused } = scriptsOf({ flags: ['--cors-allowed-origins=^https://'] }, platformFlags)
  assert.equal(isRefused, false)
})

test('the schemas that the codec command asks for by name are in a script of their own', () => {
  const convert = (to: string, input: Buffer): Buffer =>
    execFileSync(process.execPath, [join(repoRoot, 'bin', 'cluster-apiserver'), 'codec', '--to', to], { input })
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', creationTimestamp: '2024-01-02T03:04:05Z' },
    spec: { containers: [{ name: 'c', resources: { limits: { cpu: '1500m' } }, livenessProbe: { httpGet: { port: 'http' } } }] },
  }
  const { metadata, spec } = JSON.parse(convert('json', convert('protobuf', Buffer.from(JSON.stringify(pod)))).toString())
  assert.equal(metadata.creationTimestamp, pod.metadata.creationTimestamp)
  assert.equal(spec.containers[0].resources.limits.cpu, '1500m')
  assert.equal(spec.containers[0].livenessProbe.httpGet.port, 'http')
  // What the server itself loads gives names to a few functions that it imports late, and to no schema.
  assert.doesNotMatch(readFileSync(join(folder, 'command.cjs'), 'latin1'), /__export\(v1_schema_exports/)
})

test('without that code, or with one that is not for this text, the command works as well', () => {
  const root = mkdtempSync(join(tmpdir(), 'bundle-test-'))
  try {
    const copy = join(root, 'dist', 'bundle')
    mkdirSync(copy, { recursive: true })
    cpSync(join(repoRoot, 'bin'), join(root, 'bin'), { recursive: true })
    copyFileSync(join(repoRoot, 'package.json'), join(root, 'package.json'))
    copyFileSync(join(folder, 'command.cjs'), join(copy, 'command.cjs'))
    symlinkSync(join(repoRoot, 'node_modules'), join(root, 'node_modules'))
    const version = (): string =>
      execFileSync(process.execPath, [join(root, 'bin', 'cluster-apiserver'), '--version'], { encoding: 'utf8' })
    assert.deepEqual(loadIn(root), { isRefused: null })
    assert.match(version(), /^cluster-apiserver \d/)
    const whole = readFileSync(join(folder, cacheName()))
    for (const broken of [Buffer.from('nonsense'), whole.subarray(0, whole.length / 2), Buffer.alloc(0)]) {
      writeFileSync(join(copy, cacheName()), broken)
      assert.match(version(), /^cluster-apiserver \d/)
    }
    // Another text: the cache of the old one is not even looked at.
    writeFileSync(join(copy, cacheName()), whole)
    const text = readFileSync(join(copy, 'command.cjs'), 'latin1')
    writeFileSync(join(copy, 'command.cjs'), `// another${text.slice(text.indexOf('\n'))}`, 'latin1')
    assert.deepEqual(loadIn(root), { isRefused: null })
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
