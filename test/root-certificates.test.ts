// A list that a thread reads once for the process.

import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { timedTest } from '../src/base/timed-test.fixture.js'
import { commandPath, repoRoot } from './kit/paths.js'

const script = join(repoRoot, 'bin', 'root-certificates.js')

const run = (args: readonly string[]): string => execFileSync(process.execPath, args, { encoding: 'utf8', env: {} })

/** In a process of its own, how much processor time the first context takes there. */
const firstContextMs = (threads: number): number =>
  Number(
    run([
      '-e',
      `const thread = require(${JSON.stringify(script)}).readRootCertificates(${threads})
      const { createSecureContext } = require('node:tls')
      const measure = () => {
        const begun = process.cpuUsage()
        createSecureContext()
        const { user, system } = process.cpuUsage(begun)
        console.log((user + system) / 1000)
      }
      if (thread === undefined) measure()
      else thread.on('exit', measure).ref()`,
    ]),
  )

timedTest('the thread reads what the first context of the process needs', async (context) => {
  if (availableParallelism() === 1) return context.skip('one processor')
  const [without, withThread] = [firstContextMs(1e6), firstContextMs(1)]
  assert.ok(withThread < without / 2, `${withThread} ms, and ${without} without it`)
})

test('a busy machine gets no thread', () => {
  const { readRootCertificates } = createRequire(import.meta.url)(script)
  assert.equal(readRootCertificates(1e6), undefined)
})

/** How many threads the command starts before it has loaded anything else, on two processors. `load` as the system tells it. */
function earlyThreads(load: string, ...argv: readonly string[]): number {
  const folder = mkdtempSync(join(tmpdir(), 'root-certificates-'))
  const hook = join(folder, 'hook.cjs')
  writeFileSync(
    hook,
    `const threads = require('node:worker_threads')
    const fs = require('node:fs')
    const { readFileSync } = fs
    let count = 0
    fs.readFileSync = (path, ...rest) => path === '/proc/loadavg' ? ${JSON.stringify(load)} : readFileSync(path, ...rest)
    require('node:os').availableParallelism = () => 2
    threads.Worker = class { on() { if (!process.moduleLoadList.includes('NativeModule https')) count++ } unref() {} }
    process.on('exit', () => { process.exitCode = 0; process.stderr.write('threads: ' + count) })`,
  )
  try {
    const { stderr } = spawnSync(process.execPath, ['--require', hook, commandPath, ...argv], { encoding: 'utf8', env: {} })
    return Number(/threads: (\d)$/.exec(stderr)?.[1])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const idle = '9.00 8.00 7.00 2/400 1234'

test('it is the first that a start does where a processor is idle, whatever there was to do before', () => {
  assert.equal(earlyThreads(idle, '--no-such-flag'), 1)
  assert.equal(earlyThreads('0.00 0.00 0.00 3/400 1234', '--no-such-flag'), 0)
})

test('no other command starts it', () => {
  assert.equal(earlyThreads(idle, '--version'), 0)
  assert.equal(earlyThreads(idle, '--identity', 'kubernetes', '--help'), 0)
  assert.equal(earlyThreads(idle, 'codec', '--no-such-flag'), 0)
})
