// Runs every test with node's own runner, whose summary closes the output.
//
// The files are found through their sources, so that what a deleted test left behind in dist/ is not run. Arguments narrow them down:
// `node scripts/test.mjs crash storage` runs the files whose path contains one of these words.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
/** Only one that hangs takes so long, however busy the machine is. */
const fileTimeoutMs = 480_000

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
  /^(?:before|beforeEach|afterEach)\(|(?<!-)\bprocess\.(?!env\b(?!\['\w+'\] =)|execPath|getuid|platform|pid\b|versions?\b|arch\b|kill\()|delete process|\bmock\b|\bperformance\.|\bconsole\.|\bglobalThis\b|\btimedTest\b|worker_threads|\bgc\b|memory-watch|turn-watch|longest-turn/m
/** Tests are not begun while the files of a group are loaded, as long as none of these waits for something. */
const waitsAtStart = /^(?:await|(?:export )?const .*= await|for await)\b/m
/** Servers inside of the test's process, in suites that start and end them; and those in processes of their own. */
const usesEmbedded = /kit\/embedded\.js'|from 'cluster-apiserver'/
const usesProcesses = /\bServerProcess\b|child_process|^after\(/m
/** They have long waits, or ports of their own. */
const staysAlone = /^test\/(?:etcd|conformance|crash|clients|fuzz|robustness|soak|vectors|linear|pressure)\//
/** What is expensive to prepare is prepared once for both, and measured by the first of them before the other adds to it. */
const shareTheirStart = ['test/embedding/package.test.ts', 'test/embedding/examples.test.ts']

/** With which others a test may share a process, if any. */
function companyOf({ source }) {
  if (shareTheirStart.includes(source)) return 'packed'
  const text = readFileSync(`${root}${source}`, 'utf8')
  if (waitsAtStart.test(text) || staysAlone.test(source)) return undefined
  if (source.startsWith('src/')) return !usesProcess.test(text) ? 'plain' : needsOwnProcess.test(text) ? undefined : 'unit'
  if (needsOwnProcess.test(text)) return undefined
  return usesProcesses.test(text) ? 'servers' : usesEmbedded.test(text) ? 'embedded' : undefined
}
const filesPerGroup = { plain: 45, unit: 25, embedded: 10, servers: 4, packed: 2 }

/** To start a process, and to warm it up, takes longer than most tests: many of them share one, one after another. */
function grouped(files) {
  const folder = '.build/groups'
  rmSync(`${root}${folder}`, { recursive: true, force: true })
  mkdirSync(`${root}${folder}`, { recursive: true })
  const alone = []
  const groups = new Map(Object.keys(filesPerGroup).map((company) => [company, []]))
  for (const file of files) (groups.get(companyOf(file)) ?? alone).push(file)
  groups.get('packed').sort((a, b) => shareTheirStart.indexOf(a.source) - shareTheirStart.indexOf(b.source))
  const shared = []
  for (const [company, members] of groups) {
    for (let i = 0; i < members.length; i += filesPerGroup[company]) {
      const built = `${folder}/${company}-${i / filesPerGroup[company] + 1}.test.js`
      const lines = members.slice(i, i + filesPerGroup[company]).map((file) => `import '../../${file.built}'\n`)
      writeFileSync(`${root}${built}`, lines.join(''))
      shared.push({ source: built, built })
    }
  }
  return [...alone, ...shared]
}

process.chdir(root)
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

/** What takes longest comes first, so that nothing long is left when all else is done; what mostly waits stands beside what computes. */
const longest = [
  'conformance/replay',
  'conformance/extension',
  'groups/servers',
  'vectors/vectors',
  'conformance/admission',
  'clients/plays',
  'linear/',
  'etcd/verbs',
  'groups/packed',
  'etcd/upgrade',
  'conformance/auth',
  'pressure/slow-watchers',
  'etcd/servers',
  'pressure/heavy-requests',
  'aggregation/hostile',
  'fuzz/fuzz',
  'admission/hostile',
  'crash/',
  'proxies/hostile',
  'pressure/crowd',
  'guides',
  'groups/embedded',
  'clients/kubectl-custom',
  'pressure/',
  'robustness',
  'clients/',
  'cli/',
  'fuzz/',
  'etcd/',
  'embedding/',
  'test/',
]
const rankOf = ({ built }) => {
  const rank = longest.findIndex((part) => built.includes(part))
  return rank === -1 ? longest.length : rank
}

const ending = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => ending.abort())

const stream = run({
  files: (words.length === 0 ? grouped(files) : files).sort((a, b) => rankOf(a) - rankOf(b)).map(({ built }) => `${root}${built}`),
  // Twice as many as there are processors: many tests wait for a server, a clock or a disk.
  concurrency: Math.min(6, 2 * availableParallelism()),
  timeout: fileTimeoutMs,
  signal: ending.signal,
})
stream.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1
})
stream.compose(new spec()).pipe(process.stdout)
