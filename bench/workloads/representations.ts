// Protobuf, Table and PartialObjectMetadata compared with JSON of the same server, which is the stored encoding.

import { type RequestParts, requestBytes } from '../connection.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, type Side } from '../measure.js'
import { configMap, configMapText } from '../objects.js'
import { protobufBody, protobufType } from '../protobuf-body.js'
import { type Line, microseconds } from '../report.js'
import { jsonFrameEnd } from '../watchers.js'
import { watchPathOf, watchSide } from './watches.js'

const bar = 1.5
const table = 'application/json;as=Table;v=v1;g=meta.cluster.io'
const metadataList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.cluster.io'

async function createSide(lab: Lab, served: Served, input: { next: (counter: number) => RequestParts; expect: number }): Promise<Side> {
  const generator = await lab.generator(served, 8)
  const run: Side['run'] = (durationMs) =>
    generator.run({ durationMs, next: (_, counter) => requestBytes(served, input.next(counter)), expect: input.expect })
  return { run }
}

interface Pair {
  readonly workload: string
  readonly json: Side
  readonly other: Side
  readonly bar?: number
}

async function lineOf(lab: Lab, pair: Pair): Promise<Line> {
  const { floor, server, ratio, perSecond } = await compare(pair.json, pair.other, lab.rounds)
  return {
    workload: pair.workload,
    floor: microseconds(floor),
    server: microseconds(server),
    ratio,
    ...(pair.bar === undefined ? {} : { bar: pair.bar }),
    note: `${perSecond.toFixed(0)}/s; floor: the same in JSON`,
  }
}

async function compareRead(
  lab: Lab,
  served: Served,
  input: { workload: string; path: string; accept: string; bar?: number },
): Promise<Line> {
  const sideOf = async (parts: RequestParts): Promise<Side> => {
    const { status } = await fetchOnce(served, parts)
    if (status !== 200) throw new Error(`${input.path}: status ${status}`)
    return createSide(lab, served, { next: () => parts, expect: 200 })
  }
  const { workload, path, accept } = input
  const json = await sideOf({ method: 'GET', path })
  const other = await sideOf({ method: 'GET', path, accept })
  return lineOf(lab, { workload, json, other, ...(input.bar === undefined ? {} : { bar: input.bar }) })
}

async function measureReads(lab: Lab, served: Served): Promise<readonly Line[]> {
  const path = await makeNamespace(served, 'bench-representations')
  const sizes = [1024, 50 * 1024]
  await fill(served, { path, count: 2, body: (i) => configMapText({ name: `object-${i}`, bytes: sizes[i] ?? 0 }) })
  const listPath = await makeNamespace(served, 'bench-representations-list')
  await fill(served, { path: listPath, count: 500, body: (i) => configMapText({ name: `object-${i}`, bytes: 1024 }) })
  const list = { path: listPath, bar }
  const lines: Line[] = []
  for (const input of [
    { workload: 'protobuf: get, 1 KB', path: `${path}/object-0`, accept: protobufType, bar },
    { workload: 'protobuf: get, 50 KB', path: `${path}/object-1`, accept: protobufType, bar },
    { workload: 'protobuf: list of 500', ...list, accept: protobufType },
    { workload: 'metadata: list of 500', ...list, accept: metadataList },
    // Ages are computed per response, so a table costs more than JSON.
    { workload: 'table: list of 500', path: listPath, accept: table, bar: 3 },
  ])
    lines.push(await compareRead(lab, served, input))
  return lines
}

async function measureWatches(lab: Lab, served: Served): Promise<readonly Line[]> {
  const representations = [
    { name: 'protobuf', accept: protobufType, pattern: Buffer.from('\n\x08MODIFIED') },
    { name: 'table', accept: table, pattern: jsonFrameEnd },
  ]
  const lines: Line[] = []
  for (const { name, accept, pattern } of representations) {
    const sideOf = async (stream: { accept?: string; pattern: Buffer }, namespace: string) => {
      const path = await makeNamespace(served, namespace)
      const body = (counter: number): string => configMapText({ name: 'watched', bytes: 1024, variant: `mark ${counter} ` })
      await fill(served, { path, count: 1, body })
      const change = (counter: number): Buffer => requestBytes(served, { method: 'PUT', path: `${path}/watched`, body: body(counter + 1) })
      return watchSide({ served, stream: { ...stream, path: await watchPathOf(served, path) }, change })
    }
    const json = await sideOf({ pattern: jsonFrameEnd }, `bench-${name}-watch-json`)
    const other = await sideOf({ accept, pattern }, `bench-${name}-watch`)
    lines.push(await lineOf(lab, { workload: `${name}: 200 watchers, per event`, json, other, bar }))
    json.close()
    other.close()
  }
  return lines
}

async function measureCreates(lab: Lab, served: Served): Promise<readonly Line[]> {
  const lines: Line[] = []
  for (const { name, bytes } of [
    { name: '1 KB', bytes: 1024 },
    { name: '50 KB', bytes: 50 * 1024 },
  ]) {
    const path = await makeNamespace(served, `bench-protobuf-create-${bytes}`)
    const json = (counter: number): RequestParts => ({ method: 'POST', path, body: configMapText({ name: `j-${counter}`, bytes }) })
    const binary = (counter: number): RequestParts => ({
      method: 'POST',
      path,
      accept: protobufType,
      type: protobufType,
      body: protobufBody(configMap({ name: `p-${counter}`, bytes })),
    })
    lines.push(
      await lineOf(lab, {
        workload: `protobuf: create, ${name}`,
        json: await createSide(lab, served, { next: json, expect: 201 }),
        other: await createSide(lab, served, { next: binary, expect: 201 }),
        bar,
      }),
    )
  }
  return lines
}

/** List in Protobuf without the read cache: every object is decoded and encoded for every list. */
async function measureFromStore(lab: Lab): Promise<Line> {
  const { served } = await lab.start(['--read-cache-bytes=0'])
  const path = await makeNamespace(served, 'bench-representations-store')
  await fill(served, { path, count: 500, body: (i) => configMapText({ name: `object-${i}`, bytes: 1024 }) })
  return compareRead(lab, served, { workload: 'protobuf: list of 500, from the store', path, accept: protobufType })
}

export async function measureRepresentations(lab: Lab): Promise<readonly Line[]> {
  const { served } = await lab.sharedServer()
  return [
    ...(await measureReads(lab, served)),
    await measureFromStore(lab),
    ...(await measureWatches(lab, served)),
    ...(await measureCreates(lab, served)),
  ]
}
