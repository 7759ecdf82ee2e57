// Our client beside npm's @kubernetes/client-node: processor time of the work, and memory of a process that does nothing else.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { obtainClientNode } from '../../test/clients/obtain-client-node.js'
import type { Spent, Task } from '../client/task.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import { median } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, mebibytes, microseconds, say } from '../report.js'

const bar = 0.5
const listed = 10_000
const watched = 100_000
const gets = 1000
/** A run is short, and the machine is not always as quick: each of ours is compared with the one of theirs beside it. */
const rounds = 15
const quickRounds = 3

export async function measureClient(lab: Lab): Promise<readonly Line[]> {
  const library = await obtainClientNode()
  if (library.skip !== false) {
    say(library.skip)
    return []
  }
  const { served, process: server } = await lab.start(['--identity=kubernetes'])
  const path = await makeNamespace(served, 'listed')
  await fill(served, { path, count: listed, body: (index) => configMapText({ name: `object-${index}`, bytes: 1024 }) })
  const events = await makeNamespace(served, 'watched')
  const { body } = await fetchOnce(served, { method: 'GET', path: `${events}?limit=1` })
  const { resourceVersion } = (JSON.parse(body.toString()) as { readonly metadata: { readonly resourceVersion: string } }).metadata
  await fetchOnce(served, { method: 'DELETE', path: events })
  await fill(served, { path: events, count: watched, body: (index) => configMapText({ name: `object-${index}`, bytes: 512 }) })
  const common = { configuration: join(server.dataDir, 'admin.conf'), library: library.path, resourceVersion }
  const tasks: readonly (Task & Compared)[] = [
    { ...common, title: `list of ${listed.toLocaleString('en')}`, work: 'list', namespace: 'listed', count: listed },
    { ...common, title: `watch of ${watched.toLocaleString('en')} events`, work: 'watch', namespace: 'watched', count: watched },
    { ...common, title: 'the same, by a function', work: 'watchByFunction', namespace: 'watched', count: watched },
    // Every client that parses them all pays for that; the bar is for watching alone.
    { ...common, title: 'the same, every object read', work: 'watchObjects', namespace: 'watched', count: watched, isJudged: false },
    { ...common, title: `${gets.toLocaleString('en')} gets`, work: 'get', namespace: 'listed', count: gets },
  ]
  const lines: Line[] = []
  for (const { title, isJudged, ...task } of tasks)
    lines.push(...(await compare({ title, isJudged }, task, lab.isQuick ? quickRounds : rounds)))
  await server.stop()
  return lines
}

interface Compared {
  readonly title: string
  /** Whether the bar is meant for it; by default it is. */
  readonly isJudged?: boolean | undefined
}

async function compare({ title, isJudged = true }: Compared, task: Task, times: number): Promise<readonly Line[]> {
  const theirs: Spent[] = []
  const ours: Spent[] = []
  const bare: Spent[] = []
  for (let round = 0; round < times; round++) {
    theirs.push(await run('theirs', task))
    ours.push(await run('ours', task))
    bare.push(await run('bare', task))
  }
  const line = (what: string, of: (spent: Spent) => number, tell: (value: number) => string): Line => {
    const besideTheirs = (spent: readonly Spent[]): number => median(spent.map((each, round) => of(each) / of(theirs[round] as Spent)))
    return {
      workload: `client: ${title}, ${what}`,
      floor: tell(median(theirs.map(of))),
      server: tell(median(ours.map(of))),
      ratio: besideTheirs(ours),
      ...(isJudged ? { bar } : {}),
      note: `floor: @kubernetes/client-node; Node's HTTPS and JSON.parse alone: ${besideTheirs(bare).toFixed(2)}×`,
    }
  }
  return [line('CPU', ({ cpuMicroseconds }) => cpuMicroseconds, microseconds), line('memory', ({ peakBytes }) => peakBytes, mebibytes)]
}

function run(program: 'ours' | 'theirs' | 'bare', task: Task): Promise<Spent> {
  const file = fileURLToPath(new URL(`../client/${program}.js`, import.meta.url))
  return new Promise((resolve, reject) =>
    execFile(process.execPath, [file, JSON.stringify(task)], { timeout: 120_000 }, (error, stdout, stderr) =>
      error === null ? resolve(JSON.parse(stdout) as Spent) : reject(new Error(`${program}: ${stderr.slice(0, 2000)}`, { cause: error })),
    ),
  )
}
