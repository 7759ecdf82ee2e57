// Checks the documents: commands and programs run, docs/flags.md matches --help, links, file names and figures are right, pages stay short.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import { type FaultRule, startServer } from 'cluster-apiserver'
import { until } from './kit/fixtures.js'
import { repoRoot } from './kit/paths.js'
import { ServerProcess } from './kit/server-process.js'

const run = promisify(execFile)
const read = (path: string): string => readFileSync(join(repoRoot, path), 'utf8')
const pagesOfDocs = readdirSync(join(repoRoot, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
const documents = [
  ...readdirSync(repoRoot).filter((name) => name.endsWith('.md')),
  ...pagesOfDocs.map((name) => `docs/${name}`),
  'examples/README.md',
  ...readdirSync(join(repoRoot, 'packages'))
    .map((name) => `packages/${name}/README.md`)
    .filter((path) => existsSync(join(repoRoot, path))),
]

const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code)

test('docs/flags.md matches --help', async () => {
  await run(process.execPath, [join(repoRoot, 'scripts/write-flags.mjs'), '--check'])
})

test('documents keep their line limits', () => {
  const limits: Readonly<Record<string, number>> = { 'README.md': 150, 'docs/reliability.md': 200, 'docs/flags.md': 300 }
  const tooLong = documents
    .map((document) => ({ document, lines: read(document).trimEnd().split('\n').length }))
    .filter(({ document, lines }) => lines > (limits[document] ?? 250))
  assert.deepEqual(tooLong, [])
})

test('docs/README.md lists every page of docs/', () => {
  const contents = read('docs/README.md')
  const pages = pagesOfDocs.filter((name) => name !== 'README.md')
  assert.deepEqual(
    pages.filter((name) => !contents.includes(`](${name})`)),
    [],
  )
})

test('links point to files that exist', () => {
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(repoRoot, dirname(document), target)))
      .map((target) => `${document}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

test('npm scripts named in documents exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
  const named = documents.flatMap((document) => [...read(document).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name))
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  )
})

test('source files named in documents exist', () => {
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:packages|test|docs|bench|scripts|examples)\/[\w./-]+\.\w+)`/g)].map(([, path = '']) => ({
      document,
      path,
    })),
  )
  assert.ok(named.length > 5)
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(repoRoot, path))),
    [],
  )
})

test('CONTRIBUTING.md: each pattern of "Where is…?" matches its file', () => {
  const rows = [...read('CONTRIBUTING.md').matchAll(/^\| [^|]+ \| `([^`]+)` \| `(packages\/[^`]+)` \|$/gm)]
  assert.ok(rows.length >= 30)
  assert.deepEqual(
    rows.filter(([, pattern = '', path = '']) => !new RegExp(pattern, 'i').test(path)).map(([row]) => row),
    [],
  )
})

const figuresOf = (path: string, marker: string): readonly string[] =>
  (new RegExp(`<!-- ${marker} -->\\n([\\s\\S]*?)<!-- /${marker} -->`).exec(read(path))?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)

test('README.md shows at most twelve figures, all from docs/performance.md, which has each workload once', () => {
  const [readmeFigures, allFigures] = [figuresOf('README.md', 'figures'), figuresOf('docs/performance.md', 'all figures')]
  assert.ok(readmeFigures.length > 0 && readmeFigures.length <= 12)
  assert.deepEqual(
    readmeFigures.filter((line) => !allFigures.includes(line)),
    [],
  )
  assert.equal(new Set(allFigures.map((line) => line.split('|')[1])).size, allFigures.length)
})

test('the tour of README.md runs', { timeout: 240_000 }, async () => {
  const readme = read('README.md')
  const tour = /<!-- tour -->([\s\S]*)<!-- \/tour -->/.exec(readme)?.[1] ?? ''
  const blocks = blocksOf(tour, 'bash')
  assert.ok(blocks.length >= 5)
  const folder = mkdtempSync(join(tmpdir(), 'apiserver-tour-'))
  const server = await ServerProcess.start()
  symlinkSync(server.dataDir, join(folder, 'cluster-data'))
  const script = `set -euo pipefail\n${blocks.join('\n')}`.replace('https://127.0.0.1:6443', server.url)
  const { stdout } = await run('bash', ['-c', script], { cwd: folder })
  for (const part of [
    '[+]ping ok',
    '"name": "shop"',
    'tea: "3"',
    '"coffee": "4"',
    'conflict with \\"alice\\"',
    '"kind": "Table"',
    '"phase": "Terminating"',
  ]) {
    assert.ok(stdout.includes(part), `${part} is missing from the output`)
  }
  const changes = readFileSync(join(folder, 'changes.log'), 'utf8').trim().split('\n')
  assert.deepEqual(
    changes.map((line) => (JSON.parse(line) as { readonly type: string }).type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  await server.stop()
  rmSync(folder, { recursive: true })
})

for (const { document, prints } of [
  { document: 'README.md', prints: /^https:\/\/127\.0\.0\.1:\d+\n$/ },
  { document: 'docs/embedding.md', prints: /^\[\s*'cluster-node-lease',\s*'cluster-public',\s*'cluster-system',\s*'default'\s*\]\n$/ },
  { document: 'docs/testkit/clock.md', prints: /^1\n0\n$/ },
  { document: 'docs/testkit/simulated-nodes.md', prints: /^Failed\nUnknown\n$/ },
  { document: 'docs/testkit/faults.md', prints: /^2 conflicts in 3 updates\n$/ },
  { document: 'docs/testkit/forks.md', prints: /^\[\] \[ 'prices' \]\n\[ 'prices' \]\ntrue 410\n$/ },
]) {
  test(`the program in ${document} runs`, async () => {
    const program = join(repoRoot, '.build', `program-of-${document.replaceAll('/', '-')}.mjs`)
    writeFileSync(program, blocksOf(read(document), 'js')[0] ?? '')
    const { stdout } = await run(process.execPath, [program], { timeout: 120_000 })
    assert.match(stdout, prints)
  })
}

test('docs/testkit/faults.md shows valid rules, one for each action', async () => {
  const texts = [...read('docs/testkit/faults.md').matchAll(/^\| `(\{ .* \})` \|/gm)].map(([, text = '']) => text)
  const server = await startServer()
  try {
    for (const text of texts) server.faults.add(runInNewContext(`(${text})`) as FaultRule)
    const actions = new Set(server.faults.list().flatMap(({ rule }) => Object.keys(rule)))
    for (const action of ['error', 'latency', 'cut', 'watch', 'expireToken', 'webhook', 'disk']) assert.ok(actions.has(action), action)
  } finally {
    await server.close()
  }
})

test('docs/controllers.md names the work queue of every controller', async () => {
  const server = await ServerProcess.start({ flags: ['--controllers=*,tokencleaner,bootstrapsigner', '--simulate-nodes=1'] })
  try {
    const metrics = async (): Promise<string> => (await server.client.get('/metrics')).text
    const queues = async (): Promise<readonly string[]> =>
      [...(await metrics()).matchAll(/^workqueue_adds_total\{name="([\w-]+)"/gm)].map(([, name = '']) => name)
    const found = await until(queues, (names) => names.includes('csrcleaner') && names.includes('simulated-nodes'))
    const text = read('docs/controllers.md')
    assert.deepEqual(
      found.filter((name) => !text.includes(`\`${name}\``)),
      [],
    )
  } finally {
    await server.stop()
  }
})
