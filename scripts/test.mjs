// Runs every test with node's own runner, whose summary closes the output.
//
// The files are found through their sources, so that what a deleted test left behind in dist/ is not run. Arguments narrow them down:
// `node scripts/test.mjs crash storage` runs the files whose path contains one of these words.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
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
/** Tests are not begun while the files of a group are loaded, as long as none of these waits for something. */
const waitsAtStart = /^(?:await|(?:export )?const .*= await|for await)\b/m
const isPlain = ({ source }) => {
  if (!source.startsWith('src/')) return false
  const text = readFileSync(`${root}${source}`, 'utf8')
  return !usesProcess.test(text) && !waitsAtStart.test(text)
}
const filesPerGroup = 25

/** To start a process takes longer than most of the tests that only compute: many of them share one. */
function grouped(files) {
  const plain = files.filter(isPlain)
  const folder = '.build/groups'
  rmSync(`${root}${folder}`, { recursive: true, force: true })
  mkdirSync(`${root}${folder}`, { recursive: true })
  const groups = []
  for (let i = 0; i < plain.length; i += filesPerGroup) {
    const built = `${folder}/plain-${i / filesPerGroup + 1}.test.js`
    const lines = plain.slice(i, i + filesPerGroup).map((file) => `import '../../${file.built}'\n`)
    writeFileSync(`${root}${built}`, lines.join(''))
    groups.push({ source: built, built })
  }
  return [...files.filter((file) => !plain.includes(file)), ...groups]
}

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

const flags = [
  '--test',
  '--test-reporter=spec',
  // Twice as many as there are processors: many tests wait for a server, a clock or a disk.
  `--test-concurrency=${Math.min(6, 2 * availableParallelism())}`,
  `--test-timeout=${fileTimeoutMs}`,
]
// The runner takes them in the order of their names: tests of whole servers, which take long, come before those beside the code.
const built = (words.length === 0 ? grouped(files) : files).map((file) => file.built)
const child = spawn(process.execPath, [...flags, ...built], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
