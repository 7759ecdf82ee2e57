// cluster-apiserver/client compared with @kubernetes/client-node: CPU time of the task, and peak memory of the process.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { obtainClientNode } from '../../test/clients/obtain-client-node.js'
import type { Task, TaskCost } from '../client/task.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import { median } from '../measure.js'
import { configMapText } from '../objects.js'
import { type Line, mebibytes, microseconds, printProgress } from '../report.js'

const bar = 0.5
const listed = 10_000
const watched = 100_000
const gets = 1000
/** Each run is compared with the client-node run of the same round: runs are short, and the speed of the machine varies. */
const rounds = 15
const quickRounds = 3

export async function measureClient(lab: Lab): Promise<readonly Line[]> {
  const library = await obtainClientNode()
  if (library.skip !== false) {
    printProgress(library.skip)
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
  const tasks: readonly (Task & TaskTitle)[] = [
    { ...common, title: `list of ${listed.toLocaleString('en')}`, operation: 'list', namespace: 'listed', count: listed },
    { ...common, title: `watch of ${watched.toLocaleString('en')} events`, operation: 'watch', namespace: 'watched', count: watched },
    {
      ...common,
      title: `watch of ${watched.toLocaleString('en')} events, callback`,
      operation: 'watchByCallback',
      namespace: 'watched',
      count: watched,
    },
    // No bar: the cost is mostly JSON.parse, which all clients use.
    {
      ...common,
      title: `watch of ${watched.toLocaleString('en')} events, objects parsed`,
      operation: 'watchObjects',
      namespace: 'watched',
      count: watched,
      isJudged: false,
    },
    { ...common, title: `${gets.toLocaleString('en')} gets`, operation: 'get', namespace: 'listed', count: gets },
  ]
  const lines: Line[] = []
  for (const { title, isJudged, ...task } of tasks)
    lines.push(...(await compare({ title, isJudged }, task, lab.isQuick ? quickRounds : rounds)))
  await server.stop()
  return lines
}

interface TaskTitle {
  readonly title: string
  /** False: the line has no bar. Default: true. */
  readonly isJudged?: boolean | undefined
}

async function compare({ title, isJudged = true }: TaskTitle, task: Task, times: number): Promise<readonly Line[]> {
  const theirs: TaskCost[] = []
  const ours: TaskCost[] = []
  const bare: TaskCost[] = []
  for (let round = 0; round < times; round++) {
    theirs.push(await run('client-node', task))
    ours.push(await run('our-client', task))
    bare.push(await run('bare-https', task))
  }
  const line = (measure: string, amountOf: (cost: TaskCost) => number, format: (value: number) => string): Line => {
    const ratioToClientNode = (cost: readonly TaskCost[]): number =>
      median(cost.map((each, round) => amountOf(each) / amountOf(theirs[round] as TaskCost)))
    return {
      workload: `client: ${title}, ${measure}`,
      floor: format(median(theirs.map(amountOf))),
      server: format(median(ours.map(amountOf))),
      ratio: ratioToClientNode(ours),
      ...(isJudged ? { bar } : {}),
      note: `floor: @kubernetes/client-node; Node's HTTPS and JSON.parse alone: ${ratioToClientNode(bare).toFixed(2)}×`,
    }
  }
  return [line('CPU', ({ cpuMicroseconds }) => cpuMicroseconds, microseconds), line('memory', ({ peakBytes }) => peakBytes, mebibytes)]
}

function run(program: 'our-client' | 'client-node' | 'bare-https', task: Task): Promise<TaskCost> {
  const file = fileURLToPath(new URL(`../client/${program}.js`, import.meta.url))
  return new Promise((resolve, reject) =>
    execFile(process.execPath, [file, JSON.stringify(task)], { timeout: 120_000 }, (error, stdout, stderr) =>
      error === null
        ? resolve(JSON.parse(stdout) as TaskCost)
        : reject(new Error(`${program}: ${stderr.slice(0, 2000)}`, { cause: error })),
    ),
  )
}
