// Forks of an embedded server: time of fork(), memory of idle forks, and 200 tests with a fork each. Limits are absolute.

import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../../test/kit/paths.js'
import type { Lab } from '../lab.js'
import { plainEnvironment } from '../plain-environment.js'
import { type Line, milliseconds } from '../report.js'

const limits = { smallMs: 10, largeMs: 100, forkBytes: 2 << 20, testsMs: 5000 }
const counts = { small: 1000, large: 100_000, forks: 1000, tests: 200 }

interface Measured {
  readonly forkMs: number
  readonly forkBytes: number
  readonly testsMs: number
}

/** Arguments: path of the objects, number of idle forks, number of tests. Takes the shortest round, because other load only adds time. */
const program = `
  const { startServer } = require(${JSON.stringify(join(repoRoot, 'bin', 'index.cjs'))})
  const [from, forkCount, testCount] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
  const timed = async (work) => {
    const begun = performance.now()
    const result = await work()
    return { ms: performance.now() - begun, result }
  }
  const test = async (server) => {
    const fork = await server.fork()
    const maps = fork.client.core.v1.configMaps('shop')
    await maps.create({ metadata: { name: 'total' }, data: { apples: '3' } })
    await maps.get('total')
    await maps.list({ limit: 10 })
    await fork.close()
  }
  startServer({ from }).then(async (server) => {
    const times = []
    for (let i = 0; i < 30; i++) {
      const { ms, result } = await timed(() => server.fork())
      times.push(ms)
      await result.close()
    }
    const rounds = []
    for (let round = 0; round < 3; round++) {
      const { ms } = await timed(async () => {
        for (let i = 0; i < testCount; i++) await test(server)
      })
      rounds.push(ms)
    }
    gc()
    const before = process.memoryUsage.rss()
    const forks = []
    for (let i = 0; i < forkCount; i++) forks.push(await server.fork())
    gc()
    const forkBytes = (process.memoryUsage.rss() - before) / Math.max(1, forkCount)
    const forkMs = times.sort((a, b) => a - b)[times.length >> 1]
    process.stdout.write(JSON.stringify({ forkMs, forkBytes, testsMs: Math.min(...rounds) }), () => process.exit(0))
  })`

function run(path: string, args: readonly string[]): Promise<Measured> {
  return new Promise((resolve, reject) =>
    execFile(process.execPath, ['--expose-gc', path, ...args], { env: plainEnvironment({}), timeout: 300_000 }, (error, stdout) =>
      error === null ? resolve(JSON.parse(stdout) as Measured) : reject(error),
    ),
  )
}

function writeObjects(path: string, count: number): void {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
  const maps = Array.from({ length: count }, (_, i) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `map-${i}`, namespace: 'shop' },
    data: { text: 'x'.repeat(200) },
  }))
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [namespace, ...maps] }))
}

export async function measureForks(lab: Lab): Promise<readonly Line[]> {
  const path = join(lab.folder, 'forks.cjs')
  writeFileSync(path, program)
  const from = (count: number): string => {
    const file = join(lab.folder, `objects-${count}.json`)
    writeObjects(file, count)
    return file
  }
  const small = await run(path, [from(counts.small), String(counts.forks), String(counts.tests)])
  const large = await run(path, [from(counts.large), '0', '0'])
  const line = (workload: string, value: number, limit: number, show: (value: number) => string): Line => ({
    workload,
    floor: show(limit),
    server: show(value),
    ratio: value / limit,
    bar: 1,
  })
  const kilobytes = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`
  return [
    line(`fork() with ${counts.small} objects`, small.forkMs, limits.smallMs, milliseconds),
    line(`fork() with ${counts.large} objects`, large.forkMs, limits.largeMs, milliseconds),
    line(`memory of a fork, of ${counts.forks}`, small.forkBytes, limits.forkBytes, kilobytes),
    line(`${counts.tests} tests with a fork each`, small.testsMs, limits.testsMs, milliseconds),
  ]
}
