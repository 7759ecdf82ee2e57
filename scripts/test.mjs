// Runs the built tests with Node's own test runner: `node scripts/test.mjs [--slow | --all | --workers] [WORD...]`.
//
// Tiers: a test is slow if its folder is one of `slowFolders` or its name ends in `.slow.test.ts`; all others run by default.
// `--workers` runs the default ones that start servers, each server with two worker processes if it can have some.
// Words narrow the files down to those whose path contains one of them, in both tiers.
//
// Processes: fast files of one folder share processes, because starting one takes longer than most tests. Slow files, files that end in
// `.alone.test.ts` and files that were selected by words each get their own.

import { setMaxListeners } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, relative } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const slowFolders = ['clients', 'crash', 'etcd', 'fuzz', 'linear', 'pressure', 'robustness', 'soak', 'tenants']
const slowPath = new RegExp(`(?:^|/)test/(?:${slowFolders.join('|')})/`)
/** Files per shared process: unit tests are short, tests of a whole server are not. */
const groupSizes = { src: 40, test: 6 }
const fileTimeoutMs = 400_000
/** Of this run only: another run in the same checkout must not remove its files. */
const groupsFolder = `.build/groups/${process.pid}`

function findTests(source, built) {
  if (!existsSync(`${root}${source}`)) return []
  return readdirSync(`${root}${source}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => ({ source: `${source}/${name}`, built: `${built}/${name.replace(/\.ts$/, '.js')}` }))
}

const isSlow = ({ source }) => source.endsWith('.slow.test.ts') || slowPath.test(source)
const isAlone = (file) => isSlow(file) || file.source.endsWith('.alone.test.ts')

/** Writes a file that imports tests, and ends their process if they leave something open. */
function writeUnit(source, members) {
  const built = `${groupsFolder}/${source.replace(/\.ts$/, '.js')}`
  mkdirSync(`${root}${dirname(built)}`, { recursive: true })
  const imports = [...members, 'scripts/test-end.mjs'].map((path) => `import '${relative(dirname(built), path)}'\n`)
  writeFileSync(`${root}${built}`, imports.join(''))
  return { source, built }
}

/** Groups files by their folder: `packages/<name>/src/<folder>`, `packages/<name>/test/<folder>` or `test/<folder>`. */
function groupByFolder(files) {
  const folders = new Map()
  for (const file of files) {
    const [name] = /^(?:packages\/[^/]+\/)?(?:src|test)(?:\/[^/.]+(?=\/))?/.exec(file.source)
    folders.set(name, [...(folders.get(name) ?? []), file])
  }
  return [...folders].flatMap(([folder, members]) => {
    const size = groupSizes[/^(?:packages\/[^/]+\/)?(src|test)/.exec(folder)[1]]
    return Array.from({ length: Math.ceil(members.length / size) }, (_, i) => {
      const batch = members.slice(i * size, (i + 1) * size)
      return writeUnit(
        `${folder}/group-${i + 1}.js`,
        batch.map(({ built }) => built),
      )
    })
  })
}

process.chdir(root)
// Every Node process would read these certificates at its start; test/clients/obtain.ts, which downloads clients, restores them.
const { NODE_EXTRA_CA_CERTS: certificates } = process.env
delete process.env['NODE_EXTRA_CA_CERTS']
if (certificates !== undefined) process.env['TEST_EXTRA_CA_CERTS'] = certificates

const options = process.argv.slice(2).filter((word) => word.startsWith('--'))
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const unknown = options.filter((option) => !['--slow', '--all', '--workers'].includes(option))
const withWorkers = options.includes('--workers')
if (withWorkers) process.env['TEST_ENGINES'] = 'workers'
/** Unit tests, and tests of `startServer`, which is one process. */
const isWithoutWorkers = ({ source }) =>
  /\/src\/|^test\/(?:embedding|linear|yaml|bench|vectors)\/|\/test\/(?:etcd|testkit|envtest|workloads)\//.test(source)
const isSelected = (file) =>
  words.length > 0
    ? words.some((word) => file.source.includes(word))
    : options.includes('--all') || (isSlow(file) === options.includes('--slow') && !(withWorkers && isWithoutWorkers(file)))
const packages = readdirSync(`${root}packages`).map((name) => `packages/${name}`)
const files = [
  ...findTests('test', '.build/test'),
  ...packages.flatMap((path) => [...findTests(`${path}/test`, `.build/${path}/test`), ...findTests(`${path}/src`, `${path}/dist`)]),
].filter(isSelected)
const missing = files.filter(({ built }) => !existsSync(`${root}${built}`))
const problem =
  unknown.length > 0
    ? `unknown option ${unknown.join(', ')}; there are --slow, --all and --workers`
    : files.length === 0
      ? `no test matches ${words.join(', ')}`
      : missing.length > 0
        ? `not built: ${missing.map(({ source }) => source).join(', ')}; run npm run check`
        : undefined
if (problem !== undefined) {
  console.error(problem)
  process.exit(1)
}

const stopController = new AbortController()
setMaxListeners(0, stopController.signal)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stopController.abort())

const startedMs = performance.now()
const times = []
const counts = new Map()
const events = new PassThrough({ objectMode: true })
const seconds = (ms) => (ms / 1000).toFixed(1)

/** Runs one file. Its events are passed on when it has ended, so that the lines of two files never mix. */
async function runUnit({ source, built }) {
  const fromMs = performance.now()
  const fileEvents = []
  let processorSeconds = ''
  for await (const event of run({ files: [`${root}${built}`], concurrency: 1, timeout: fileTimeoutMs, signal: stopController.signal })) {
    const { type, data } = event
    const [, used] = (type === 'test:stdout' && /^processor seconds: ([\d.]+)\n$/.exec(data.message)) || []
    if (used !== undefined) processorSeconds = used
    else if (data.file !== undefined) fileEvents.push(event)
    if (type === 'test:diagnostic' && data.file === undefined) {
      const [, name, count] = /^(\w+) ([\d.]+)$/.exec(data.message) ?? []
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + Number(count))
      // An error that was thrown after the test that caused it.
      else fileEvents.push(event)
    }
    const { exitCode, signal } = data.details?.error ?? {}
    if (type === 'test:fail' && (exitCode ?? signal ?? undefined) !== undefined)
      fileEvents.push({
        type: 'test:diagnostic',
        data: { nesting: 0, message: `${source} ended with ${signal ?? `exit code ${exitCode}`}`, level: 'error' },
      })
    if (type === 'test:fail' && (data.todo === undefined || data.todo === false)) process.exitCode = 1
  }
  for (const event of fileEvents) events.write(event)
  times.push(`${seconds(fromMs - startedMs)}\t${seconds(performance.now() - fromMs)}\t${source}\t${processorSeconds}\n`)
}

/** Tests of whole servers wait for each other's processes, so there are more units at a time than processors. */
async function runAll(units) {
  const waiting = [...units]
  const runNext = async () => {
    for (let unit = waiting.shift(); unit !== undefined && !stopController.signal.aborted; unit = waiting.shift()) await runUnit(unit)
  }
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, runNext))
  if (stopController.signal.aborted) process.exitCode = 1
}

process.on('exit', () => rmSync(`${root}${groupsFolder}`, { recursive: true, force: true }))
const hasOwnProcess = (file) => words.length > 0 || isAlone(file)
const units = [
  ...files.filter(hasOwnProcess).map((file) => writeUnit(file.source, [file.built])),
  ...groupByFolder(files.filter((file) => !hasOwnProcess(file))),
]
events.compose(new spec()).pipe(process.stdout)
await runAll(units)
counts.set('duration_ms', Math.round(performance.now() - startedMs))
for (const [name, count] of counts) events.write({ type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}` } })
events.end()
const timesFile = process.env['TEST_TIMES']
if (timesFile !== undefined) writeFileSync(timesFile, times.join(''))
