// Runs every test with node's own runner, whose summary closes the output.
//
// The files are found through their sources, so that what a deleted test left behind in dist/ is not run. Arguments narrow them down:
// `node scripts/test.mjs crash storage` runs the files whose path contains one of these words.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const fileTimeoutMs = 240_000

/** Those that take longest are started first, so that nothing waits for them at the end. */
const longest = [
  'test/conformance/',
  'test/client/',
  'test/robustness/robustness',
  'test/crash/',
  'test/etcd/',
  'test/clients/',
  'test/cli/',
  'test/examples',
  'test/embedding/',
  'test/soak/',
  'test/fuzz',
  'test/bad-input',
  'test/verbs',
]

function testsOf(source, built) {
  return readdirSync(`${root}${source}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => ({ source: `${source}/${name}`, built: `${built}/${name.replace(/\.ts$/, '.js')}` }))
}

const place = ({ source }) => {
  const index = longest.findIndex((beginning) => source.startsWith(beginning))
  return index < 0 ? longest.length : index
}

const words = process.argv.slice(2)

const files = [...testsOf('test', '.build/test'), ...testsOf('src', 'dist')]
  .filter(({ source }) => words.length === 0 || words.some((word) => source.includes(word)))
  .sort((a, b) => place(a) - place(b))

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
  // One more than there are processors: many tests wait for a server, a clock or a disk.
  `--test-concurrency=${Math.min(4, availableParallelism() + 1)}`,
  `--test-timeout=${fileTimeoutMs}`,
]
const child = spawn(process.execPath, [...flags, ...files.map(({ built }) => built)], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
