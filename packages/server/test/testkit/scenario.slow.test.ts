// One scenario (faults, clock, history) from TypeScript, Python, Go, Java and a shell: all get the same results.

import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { runToEnd } from '../../../../test/clients/obtain.js'
import { commandPath, repoRoot } from '../../../../test/kit/paths.js'
import { playEmbedded, type Scenario } from './scenario/play-embedded.js'

const players = join(repoRoot, 'packages/server/test/testkit/scenario')
const clients = join(repoRoot, 'examples/testkit')
const folder = mkdtempSync(join(tmpdir(), 'testkit-scenario-'))
const file = join(folder, 'scenario.json')
/** The clock moves to a day that is soon: each year would take seconds. */
const day = new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10)
writeFileSync(file, readFileSync(join(players, 'scenario.json'), 'utf8').replaceAll('2040-01-31', day))
const scenario = JSON.parse(readFileSync(file, 'utf8')) as Scenario
after(() => rmSync(folder, { recursive: true, force: true }))

const { NODE_TEST_CONTEXT: _, ...environment } = process.env
const env = {
  ...environment,
  CLUSTER_APISERVER: commandPath,
  GOCACHE: join(folder, 'go-cache'),
  GOFLAGS: '-mod=mod',
  PYTHONDONTWRITEBYTECODE: '1',
  /** The clients must connect directly. */
  HTTPS_PROXY: 'http://127.0.0.1:1',
  https_proxy: 'http://127.0.0.1:1',
}

async function run(command: string, args: readonly string[], cwd = folder): Promise<string> {
  const { code, stdout, stderr } = await runToEnd(command, args, { cwd, env, timeoutMs: 300_000 })
  assert.equal(code, 0, `${stdout}\n${stderr}`)
  return stdout
}

/** Name of the first command that is not installed. */
async function missingOf(commands: readonly (readonly string[])[]): Promise<string | undefined> {
  for (const [command = '', ...args] of commands) {
    if ((await runToEnd(command, args)).code !== 0) return command
  }
  return undefined
}

interface Language {
  readonly name: string
  readonly needs: readonly (readonly string[])[]
  readonly play: () => Promise<string>
}

const languages: readonly Language[] = [
  {
    name: 'Python',
    needs: [['python3', '--version']],
    play: () => run('python3', [join(players, 'play.py'), join(clients, 'python'), file]),
  },
  {
    name: 'Go',
    needs: [['go', 'version']],
    play: () => {
      const module = join(folder, 'play')
      mkdirSync(join(module, 'testkit'), { recursive: true })
      writeFileSync(join(module, 'go.mod'), 'module play\n\ngo 1.19\n')
      cpSync(join(clients, 'go/testkit.go'), join(module, 'testkit/testkit.go'))
      cpSync(join(players, 'play.go'), join(module, 'main.go'))
      return run('go', ['run', '.', file], module)
    },
  },
  {
    name: 'Java',
    needs: [
      ['javac', '-version'],
      ['java', '-version'],
    ],
    play: async () => {
      const classes = join(folder, 'classes')
      await run('javac', ['-d', classes, join(clients, 'java/Testkit.java'), join(players, 'Play.java')])
      return run('java', ['-cp', classes, 'Play', file])
    },
  },
  {
    name: 'shell',
    needs: [
      ['curl', '--version'],
      ['jq', '--version'],
    ],
    play: () => run('sh', [join(players, 'play.sh'), join(clients, 'shell'), file]),
  },
]

const expected = scenario.steps.map(({ expect }) => expect)
/** Step by step, so that a difference shows its step. */
const compare = (results: readonly unknown[]): void =>
  assert.deepEqual(
    results.map((result, i) => ({ step: scenario.steps[i], result })),
    expected.map((result, i) => ({ step: scenario.steps[i], result })),
  )

describe('the scenario of the test kit', () => {
  test('TypeScript', async () => compare(await playEmbedded(scenario)))
  for (const { name, needs, play } of languages) {
    test(name, { timeout: 400_000 }, async (context) => {
      const missing = await missingOf(needs)
      if (missing !== undefined) return context.skip(`${missing} is not installed`)
      compare(
        (await play())
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      )
    })
  }
})
