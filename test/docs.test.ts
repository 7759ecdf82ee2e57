// The documents tell the truth: the README's commands are run, the flags are those of the command, and every link leads somewhere.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { until } from './kit/fixtures.js'
import { repoRoot } from './kit/paths.js'
import { runCommand, ServerProcess } from './kit/server-process.js'

const run = promisify(execFile)
const read = (path: string): string => readFileSync(join(repoRoot, path), 'utf8')
const documents = [
  ...readdirSync(repoRoot).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(repoRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]

const blocksOf = (text: string, language: string): readonly string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, code = '']) => code)

test('docs/flags.md is what --help says', async () => {
  const { stdout } = await runCommand(['--help'])
  assert.equal(blocksOf(read('docs/flags.md'), 'text')[0], stdout, 'run `npm run docs`')
})

test('links lead to files', () => {
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(repoRoot, dirname(document), target)))
      .map((target) => `${document}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

test('commands of package.json that are spoken of exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
  const spoken = documents.flatMap((document) => [...read(document).matchAll(/npm run ([a-z:]+)/g)].map(([, name = '']) => name))
  assert.deepEqual(
    spoken.filter((name) => !(name in scripts)),
    [],
  )
})

test('files that the documents name are there', () => {
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:src|test|docs|bench|scripts)\/[\w./-]+\.\w+)`/g)].map(([, path = '']) => ({ document, path })),
  )
  assert.ok(named.length > 5)
  assert.deepEqual(
    named.filter(({ path }) => !existsSync(join(repoRoot, path))),
    [],
  )
})

const figuresOf = (path: string, mark: string): readonly string[] =>
  (new RegExp(`<!-- ${mark} -->\\n([\\s\\S]*?)<!-- /${mark} -->`).exec(read(path))?.[1] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)

test('the README shows at most twelve figures, each of them from docs/performance.md, and no row stands there twice', () => {
  const [few, all] = [figuresOf('README.md', 'figures'), figuresOf('docs/performance.md', 'all figures')]
  assert.ok(few.length > 0 && few.length <= 12)
  assert.deepEqual(
    few.filter((line) => !all.includes(line)),
    [],
  )
  assert.equal(new Set(all.map((line) => line.split('|')[1])).size, all.length)
})

test('the tour of the README', { timeout: 240_000 }, async () => {
  const readme = read('README.md')
  const tour = /<!-- tour -->([\s\S]*)<!-- \/tour -->/.exec(readme)?.[1] ?? ''
  const blocks = blocksOf(tour, 'bash')
  assert.ok(blocks.length >= 5)
  const place = mkdtempSync(join(tmpdir(), 'apiserver-tour-'))
  const server = await ServerProcess.start()
  symlinkSync(server.dataDir, join(place, 'cluster-data'))
  const script = `set -euo pipefail\n${blocks.join('\n')}`.replace('https://127.0.0.1:6443', server.url)
  const { stdout } = await run('bash', ['-c', script], { cwd: place })
  for (const part of [
    '[+]ping ok',
    '"name": "shop"',
    'tea: "3"',
    '"coffee": "4"',
    'conflict with \\"alice\\"',
    '"kind": "Table"',
    '"phase": "Terminating"',
  ]) {
    assert.ok(stdout.includes(part), `${part} is not in what the commands print`)
  }
  const changes = readFileSync(join(place, 'changes.log'), 'utf8').trim().split('\n')
  assert.deepEqual(
    changes.map((line) => (JSON.parse(line) as { readonly type: string }).type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  await server.stop()
  rmSync(place, { recursive: true })
})

for (const { document, prints } of [
  { document: 'README.md', prints: /^https:\/\/127\.0\.0\.1:\d+\n$/ },
  { document: 'docs/embedding.md', prints: /^\[\s*'cluster-node-lease',\s*'cluster-public',\s*'cluster-system',\s*'default'\s*\]\n$/ },
]) {
  test(`the program in ${document}`, async () => {
    const program = join(repoRoot, '.build', `program-of-${document.replaceAll('/', '-')}.mjs`)
    writeFileSync(program, blocksOf(read(document), 'js')[0] ?? '')
    const { stdout } = await run(process.execPath, [program], { timeout: 20_000 })
    assert.match(stdout, prints)
  })
}

test('docs/loops.md names the queue of every loop', async () => {
  const server = await ServerProcess.start({ flags: ['--controllers=*,tokencleaner,bootstrapsigner'] })
  try {
    const metrics = async (): Promise<string> => (await server.client.get('/metrics')).text
    const queues = async (): Promise<readonly string[]> =>
      [...(await metrics()).matchAll(/^workqueue_adds_total\{name="(\w+)"/gm)].map(([, name = '']) => name)
    const found = await until(queues, (names) => names.includes('csrcleaner'))
    const text = read('docs/loops.md')
    assert.deepEqual(
      found.filter((name) => !text.includes(`\`${name}\``)),
      [],
    )
  } finally {
    await server.stop()
  }
})
