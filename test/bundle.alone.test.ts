// The bundle: its code cache is valid, the server starts without the cache, and other commands do not load the server.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'
import { repoRoot } from './kit/paths.js'

const inRepo = (...names: readonly string[]): string => join(repoRoot, ...names)

/** Starts a server from the bundle under `root` in a new process. */
function startIn(root: string): { readonly isRejected: boolean | null; readonly url: string } {
  const program = `
    const { script, exports: { startServer } } = require(${JSON.stringify(join(root, 'bin', 'load.js'))}).loadScript('server')
    startServer().then(async ({ url, close }) => {
      await close()
      console.log(JSON.stringify({ isRejected: script.cachedDataRejected ?? null, url }))
    })`
  return JSON.parse(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }))
}

test('the code cache is accepted', () => assert.equal(startIn(repoRoot).isRejected, false))

test('non-ASCII characters survive bundling', async () => {
  const server = await startServer({ flags: ['--event-ttl=3600000000\u00b5s'] })
  await server.close({ immediately: true })
})

test('a server starts without a code cache, and with an invalid one', () => {
  const root = mkdtempSync(join(tmpdir(), 'bundle-test-'))
  const cache = join(root, 'dist', 'bundle', 'server.cache')
  try {
    cpSync(inRepo('bin'), join(root, 'bin'), { recursive: true })
    cpSync(inRepo('dist', 'bundle'), join(root, 'dist', 'bundle'), { recursive: true })
    copyFileSync(inRepo('package.json'), join(root, 'package.json'))
    symlinkSync(inRepo('node_modules'), join(root, 'node_modules'))
    const whole = readFileSync(cache)
    writeFileSync(cache, whole.subarray(0, whole.length / 2))
    assert.equal(startIn(root).isRejected, true)
    rmSync(cache)
    const { isRejected, url } = startIn(root)
    assert.equal(isRejected, null)
    assert.match(url, /^https:/)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})

test('--help and --version do not load the server', () => {
  for (const [flag, text] of [
    ['--help', /--secure-port/],
    ['--version', /^cluster-apiserver \d/],
  ] as const) {
    const load = '() => Promise.reject(new Error("loaded"))'
    const program = `require(${JSON.stringify(inRepo('dist', 'bundle', 'main.js'))}).main(['${flag}'], ${load})`
    assert.match(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }), text)
  }
})

test('the codec command has its own script', () => {
  const convert = (to: string, input: Buffer): Buffer =>
    execFileSync(process.execPath, [inRepo('bin', 'cluster-apiserver'), 'codec', '--to', to], { input })
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }] } }
  const { spec } = JSON.parse(convert('json', convert('protobuf', Buffer.from(JSON.stringify(pod)))).toString())
  assert.equal(spec.containers[0].name, 'c')
})
