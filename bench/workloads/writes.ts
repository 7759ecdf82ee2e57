// Writes: create, update, merge patch and apply, compared with a bare server that parses, serializes and stores the same object durably.

import { type RequestParts, requestBytes } from '../connection.js'
import { storeBehaviour } from '../floor.js'
import { fetchOnce, fill, type Lab, makeNamespace, type Tested } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMap, configMapText } from '../objects.js'
import { type Line, microseconds } from '../report.js'

const connections = 16
const sizes = [
  { name: '1 KB', bytes: 1024 },
  { name: '50 KB', bytes: 50 * 1024 },
]

type Next = (connection: number, counter: number) => RequestParts

async function writer(lab: Lab, served: Served, input: { readonly next: Next; readonly expect: number }): Promise<Side> {
  const generator = await lab.generator(served, connections)
  const next = (connection: number, counter: number): Buffer => requestBytes(served, input.next(connection, counter))
  return { run: (durationMs) => generator.run({ durationMs, next, expect: input.expect }) }
}

async function line(lab: Lab, input: { workload: string; floor: Side; server: Side; bar: number }): Promise<Line> {
  const { floor, server, ratio, perSecond } = await compare(input.floor, input.server, lab.rounds)
  return {
    workload: input.workload,
    floor: microseconds(floor),
    server: microseconds(server),
    ratio,
    bar: input.bar,
    note: `${perSecond.toFixed(0)}/s`,
  }
}

let collections = 0

async function newCollection({ served }: Tested): Promise<string> {
  collections += 1
  return makeNamespace(served, `bench-writes-${collections}`)
}

export async function measureCreate(lab: Lab): Promise<readonly Line[]> {
  const tested = await lab.sharedServer()
  const path = await newCollection(tested)
  const next: Next = (connection, counter) => ({
    method: 'POST',
    path,
    body: configMapText({ name: `c-${connection}-${counter}`, bytes: 1024 }),
  })
  const sample = await fetchOnce(tested.served, { method: 'POST', path, body: configMapText({ name: 'sample', bytes: 1024 }) })
  const floor = await lab.floor()
  await floor.behave(storeBehaviour(sample))
  return [
    await line(lab, {
      workload: 'create, 1 KB, 16 connections',
      floor: await writer(lab, floor.served, { next, expect: 201 }),
      server: await writer(lab, tested.served, { next, expect: 201 }),
      bar: 1.4,
    }),
  ]
}

const nameOf = (connection: number): string => `object-${connection}`
const variantOf = (counter: number): string => `mark ${counter} `

interface Change {
  readonly name: string
  readonly bar: number
  readonly next: (path: string, bytes: number) => Next
}

const put =
  (path: string, bytes: number): Next =>
  (connection, counter) => ({
    method: 'PUT',
    path: `${path}/${nameOf(connection)}`,
    body: configMapText({ name: nameOf(connection), bytes, variant: variantOf(counter) }),
  })

const changes: { readonly [name: string]: Change } = {
  update: { name: 'update', bar: 1.7, next: put },
  merge: {
    name: 'merge patch',
    bar: 3,
    next: (path, bytes) => (connection, counter) => ({
      method: 'PATCH',
      path: `${path}/${nameOf(connection)}`,
      type: 'application/merge-patch+json',
      body: JSON.stringify({
        data: { 'key-000': configMap({ name: 'x', bytes: Math.min(bytes, 1400), variant: variantOf(counter) }).data['key-000'] },
      }),
    }),
  },
  apply: {
    name: 'apply',
    bar: 1.8,
    next: (path, bytes) => (connection, counter) => ({
      method: 'PATCH',
      path: `${path}/${nameOf(connection)}?fieldManager=bench&force=true`,
      type: 'application/apply-patch+yaml',
      body: configMapText({ name: nameOf(connection), bytes, variant: variantOf(counter) }),
    }),
  },
}

async function measureChange(lab: Lab, { name, bar, next }: Change): Promise<readonly Line[]> {
  const tested = await lab.sharedServer()
  const lines: Line[] = []
  for (const size of sizes) {
    const workload = `${name}, ${size.name}`
    const path = await newCollection(tested)
    await fill(tested.served, { path, count: connections, body: (i) => configMapText({ name: nameOf(i), bytes: size.bytes }) })
    const probe = await fetchOnce(tested.served, next(path, size.bytes)(0, -1))
    if (probe.status !== 200) {
      lines.push({
        workload,
        floor: '',
        server: '',
        note: [405, 415].includes(probe.status) ? 'not served yet' : `failed with status ${probe.status}`,
      })
      continue
    }
    const sample = await fetchOnce(tested.served, put(path, size.bytes)(0, -2))
    const floor = await lab.floor()
    await floor.behave(storeBehaviour(sample))
    lines.push(
      await line(lab, {
        workload,
        floor: await writer(lab, floor.served, { next: put(path, size.bytes), expect: 200 }),
        server: await writer(lab, tested.served, { next: next(path, size.bytes), expect: 200 }),
        bar,
      }),
    )
  }
  return lines
}

export const measureUpdate = (lab: Lab): Promise<readonly Line[]> => measureChange(lab, changes['update'] as Change)
export const measureMergePatch = (lab: Lab): Promise<readonly Line[]> => measureChange(lab, changes['merge'] as Change)
export const measureApply = (lab: Lab): Promise<readonly Line[]> => measureChange(lab, changes['apply'] as Change)
