// Runs every test with node's own runner, whose summary closes the output.
//
// The files are found through their sources, so that what a deleted test left behind in dist/ is not run. Arguments narrow them down:
// `node scripts/test.mjs crash storage` runs the files whose path contains one of these words.

import { setMaxListeners } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { dirname, relative } from 'node:path'
import { PassThrough } from 'node:stream'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Only one that hangs takes so long, however busy the machine is. */
const fileTimeoutMs = 400_000

function testsOf(source, built) {
  return readdirSync(`${root}${source}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => ({ source: `${source}/${name}`, built: `${built}/${name.replace(/\.ts$/, '.js')}` }))
}

/** What a test has that uses its process for more than to compute. */
const usesProcess =
  /\b(?:before|after|beforeEach|afterEach)\(|\bprocess\.|\bmock\b|\bset(?:Timeout|Interval|Immediate)\b|\.listen\(|node:(?!assert|test')|\bperformance\.|\blmdb\b|\bconsole\.|\bsleep\b|\bglobalThis\b|import\.meta|\bconcurrency\b/
/** What a test has that others in its process would notice, or that would notice them. To read the environment is not of that kind. */
const needsOwnProcess =
  /^(?:before|beforeEach|afterEach)\(|(?<!-)\bprocess\.(?!env\b(?!\['\w+'\] =)|execPath|getuid|platform|pid\b|versions?\b|arch\b|kill\(|cpuUsage\()|delete process|\bmock\b|\bconsole\.|\bglobalThis\b|worker_threads|\bgc\b|memory-watch|turn-watch|longest-turn/m
/** What looks at clocks: among its like, which leave no servers behind. */
const measures = /\bperformance\.|\btimedTest\b|\bcpuUsage\b/
/** Tests are not begun while the files of a group are loaded, as long as none of these waits for something. */
const waitsAtStart = /^(?:await|(?:export )?const .*= await|for await)\b/m
/** Servers inside of the test's process, in suites that start and end them; and those in processes of their own. */
const usesEmbedded = /kit\/embedded\.js'|from 'cluster-apiserver'/
const usesProcesses = /\bServerProcess\b|child_process|^after\(|kit\/agent-cluster\.js'/m
const usesCommand = /\/play\.js'|kit\/run-inside\.js'|\/run-here\.js'/
/** They have long waits, or ports of their own. */
const staysAlone = /^test\/(?:etcd|conformance|crash|clients|fuzz|robustness|soak|vectors|linear|pressure)\//
/** What is expensive to prepare is prepared once for both, and measured by the first of them before the other adds to it. */
const shareTheirStart = ['test/embedding/package.test.ts', 'test/embedding/examples.test.ts']

/** With which others a test may share a process, if any. */
function companyOf({ source }) {
  if (shareTheirStart.includes(source)) return 'packed'
  const text = readFileSync(`${root}${source}`, 'utf8')
  if (waitsAtStart.test(text) || staysAlone.test(source)) return undefined
  if (needsOwnProcess.test(text)) return undefined
  if (source.startsWith('src/')) return measures.test(text) ? 'timed' : usesProcess.test(text) ? 'unit' : 'plain'
  if (measures.test(text)) return undefined
  if (source.startsWith('test/cli/') && usesCommand.test(text)) return 'commands'
  return usesProcesses.test(text) ? 'servers' : usesEmbedded.test(text) ? 'embedded' : usesProcess.test(text) ? undefined : 'plain'
}
const filesPerGroup = { plain: 45, unit: 25, timed: 15, embedded: 10, servers: 4, commands: 8, packed: 2 }

const groupsFolder = '.build/groups'

/** A file that imports others, one after another, and sees to it that its process ends. */
function written(name, members) {
  const built = `${groupsFolder}/${name}`
  mkdirSync(`${root}${dirname(built)}`, { recursive: true })
  const imported = [...members, 'scripts/test-end.mjs'].map((path) => `import '${relative(dirname(built), path)}'\n`)
  writeFileSync(`${root}${built}`, imported.join(''))
  return built
}

/** To start a process, and to warm it up, takes longer than most tests: many of them share one, one after another. */
function grouped(files) {
  rmSync(`${root}${groupsFolder}`, { recursive: true, force: true })
  const alone = []
  const groups = new Map(Object.keys(filesPerGroup).map((company) => [company, []]))
  for (const file of files) (groups.get(companyOf(file)) ?? alone).push(file)
  groups.get('packed').sort((a, b) => shareTheirStart.indexOf(a.source) - shareTheirStart.indexOf(b.source))
  const shared = []
  for (const [company, members] of groups) {
    for (let i = 0; i < members.length; i += filesPerGroup[company]) {
      const name = `${company}-${i / filesPerGroup[company] + 1}.test.js`
      const built = members.slice(i, i + filesPerGroup[company]).map((file) => file.built)
      shared.push({ source: `groups/${name}`, built: written(name, built) })
    }
  }
  return [...byThemselves(alone), ...shared]
}

const byThemselves = (files) => files.map(({ source, built }) => ({ source, built: written(source.replace(/\.ts$/, '.js'), [built]) }))

process.chdir(root)
// Certificates that a machine gives to every program of Node: each of a thousand would take a tenth of a second to read them. What fetches something
// gets them back, see `test/clients/obtaining.ts`.
const { NODE_EXTRA_CA_CERTS: certificates } = process.env
delete process.env['NODE_EXTRA_CA_CERTS']
if (certificates !== undefined) process.env['TEST_EXTRA_CA_CERTS'] = certificates
const words = process.argv.slice(2)

const files = [...testsOf('test', '.build/test'), ...testsOf('src', 'dist')].filter(
  ({ source }) => words.length === 0 || words.some((word) => source.includes(word)),
)

const missing = files.filter(({ built }) => !existsSync(`${root}${built}`))
if (files.length === 0 || missing.length > 0) {
  console.error(
    files.length === 0
      ? `no test matches ${words.join(', ')}`
      : `not built: ${missing.map(({ source }) => source).join(', ')}; run npm run check`,
  )
  process.exit(1)
}

/**
 * Of files, by a part of their path: for how many seconds they go on if nothing else runs, and how much of a processor they use then. Estimates, from
 * times taken on a machine that was busy with other things; TEST_TIMES on a calm one tells better.
 */
const estimated = {
  'fuzz/generated': [65, 0.9],
  'tenants/tenants': [11, 1],
  // It compares times with bounds, and tries again and again beside others.
  'embedding/loading': [12, 2],
  'conformance/replay': [50, 0.6],
  'conformance/extension': [45, 0.4],
  'groups/packed': [45, 0.6],
  'clients/plays': [45, 0.6],
  'conformance/admission': [40, 0.5],
  'vectors/vectors': [33, 0.6],
  'clients/pepr': [30, 0.6],
  'conformance/auth': [28, 0.5],
  'pressure/large-requests': [27, 0.9],
  'groups/servers': [26, 0.8],
  'linear/linear': [25, 1],
  'groups/timed': [25, 0.7],
  'fuzz/fuzz': [25, 0.5],
  'etcd/upgrade': [22, 0.4],
  'cli/same-as-kubectl': [22, 1],
  'groups/commands': [20, 0.8],
  'groups/embedded': [20, 1],
  'conformance/on-etcd': [20, 0.3],
  'etcd/servers': [20, 0.4],
  'etcd/verbs': [20, 0.6],
  'admission/hostile': [20, 0.6],
  'aggregation/hostile': [20, 0.6],
  'crash/': [20, 0.6],
  'pressure/crowd': [18, 0.7],
  'pressure/slow-readers': [35, 0.4],
  'pressure/slow-watchers': [18, 0.8],
  'proxies/hostile': [18, 0.5],
  'clients/kubectl-write': [15, 0.8],
  'clients/kubectl-custom': [15, 0.7],
  guides: [15, 0.8],
  'robustness/robustness': [15, 0.7],
  'workers/worker-pool': [12, 1.2],
  'soak/': [12, 0.6],
  'groups/unit': [10, 1],
  'client/types': [10, 1],
  'verbs/long-reads': [10, 1],
  'etcd/': [10, 0.4],
  'pressure/': [10, 0.6],
  'clients/': [10, 0.7],
  'fuzz/': [9, 0.9],
  'cli/': [8, 0.8],
  'embedding/': [6, 0.8],
  'groups/': [6, 1],
  'storage/crash': [14, 0.6],
  'server/move': [5, 0.8],
  'test/': [4, 0.8],
}
const costOf = ({ source }) => {
  const [seconds, processors] = Object.entries(estimated).find(([part]) => source.includes(part))?.[1] ?? [1, 0.8]
  return { seconds, processors }
}

const ending = new AbortController()
// Every file that runs listens to it.
setMaxListeners(0, ending.signal)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort())

/** Processors that may be asked for, for each that there is: what is measured alone takes less when others run beside it. */
const crowding = 1.75
const mostFiles = 10
/** How long processors are looked at, and how much of them may have nothing to do before another file is begun. */
const idleMs = 1_000
const idlePart = 0.2
const started = performance.now()
const times = []
const counts = new Map()
const events = new PassThrough({ objectMode: true })

const seconds = (ms) => (ms / 1000).toFixed(1)

/** Runs one file, and tells of it when it has ended: what runs beside it would stand between its lines. */
async function runFile({ source, built }) {
  const from = performance.now()
  const told = []
  let processorSeconds = ''
  for await (const event of run({ files: [`${root}${built}`], concurrency: 1, timeout: fileTimeoutMs, signal: ending.signal })) {
    const { type, data } = event
    const [, used] = (type === 'test:stdout' && /^processor seconds: ([\d.]+)\n$/.exec(data.message)) || []
    if (used !== undefined) processorSeconds = used
    else if (data.file !== undefined) told.push(event)
    const [, name, count] = (type === 'test:diagnostic' && data.file === undefined && /^(\w+) (\d+)$/.exec(data.message)) || []
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + Number(count))
    if (type === 'test:fail' && (data.todo === undefined || data.todo === false)) process.exitCode = 1
  }
  for (const event of told) events.write(event)
  times.push(`${seconds(from - started)}\t${seconds(performance.now() - from)}\t${source}\t${processorSeconds}\n`)
}

/** Which part of the processors nobody has used since the last question. */
class IdleWatch {
  #last = IdleWatch.#times()

  static #times() {
    const all = cpus().map(({ times }) => times)
    const idle = all.reduce((sum, times) => sum + times.idle, 0)
    return { idle, total: all.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) }
  }

  take() {
    const { idle, total } = IdleWatch.#times()
    const part = (idle - this.#last.idle) / Math.max(1, total - this.#last.total)
    this.#last = { idle, total }
    return part
  }
}

/**
 * What takes longest comes first, so that nothing long is left when all else is done; and what mostly waits stands beside what computes. Where
 * processors have nothing to do all the same, one more is begun at a time.
 */
async function runAll(units) {
  const waiting = units.map((unit) => ({ ...unit, ...costOf(unit) })).sort((a, b) => b.seconds - a.seconds)
  const room = crowding * availableParallelism()
  const running = new Set()
  const idle = new IdleWatch()
  let used = 0
  let isIdle = false
  while (!ending.signal.aborted && waiting.length + running.size > 0) {
    const fits = ({ processors }) => running.size === 0 || (running.size < mostFiles && (isIdle || used + processors < room + 0.01))
    const next = waiting.findIndex(fits)
    if (next === -1) {
      await Promise.race([...running, sleep(idleMs, undefined, { ref: false })])
      isIdle = idle.take() > idlePart
      continue
    }
    isIdle = false
    const [unit] = waiting.splice(next, 1)
    used += unit.processors
    const ended = runFile(unit).then(() => {
      running.delete(ended)
      used -= unit.processors
    })
    running.add(ended)
  }
  await Promise.all(running)
  if (ending.signal.aborted) process.exitCode = 1
}

events.compose(new spec()).pipe(process.stdout)
await runAll(words.length === 0 ? grouped(files) : byThemselves(files))
counts.set('duration_ms', Math.round(performance.now() - started))
for (const [name, count] of counts) events.write({ type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}` } })
events.end()
const timesFile = process.env['TEST_TIMES']
if (timesFile !== undefined) writeFileSync(timesFile, times.join(''))
