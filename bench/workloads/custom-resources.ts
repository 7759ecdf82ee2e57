// Custom resources compared with ConfigMaps of the same size, time of CEL rules, start and memory of a server with 500 CRDs.

import { join } from 'node:path'
import { compileExpression } from '../../packages/api/src/cel/compile.js'
import { environmentOf, typeOfSchema, type ValueSchema } from '../../packages/api/src/cel/types/structural-schema-types.js'
import { valueBySchema } from '../../packages/api/src/cel/values/json-values.js'
import { Connection, type RequestParts, requestBytes } from '../connection.js'
import { memoryOf } from '../cpu-time.js'
import { fetchOnce, fill, type Lab, makeNamespace } from '../lab.js'
import type { Served } from '../load.js'
import { compare, median, type Side } from '../measure.js'
import { Prober } from '../prober.js'
import { type Line, mebibytes, microseconds, milliseconds } from '../report.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
const group = 'bench.example.com'
const fields = 50
const fieldNames = Array.from({ length: fields }, (_, i) => `field${String(i).padStart(2, '0')}`)

const definitionText = (plural: string, kind: string, properties: object, more: object = {}): string =>
  JSON.stringify({
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { data: { type: 'object', properties, ...more } } } },
        },
      ],
    },
  })

const stringProperties = Object.fromEntries(fieldNames.map((name) => [name, { type: 'string', maxLength: 100 }]))
const dataOf = (text: string) => Object.fromEntries(fieldNames.map((name) => [name, `some text ${text}`]))

/** Creates a CRD; returns the milliseconds until it is served. */
async function createDefinition(served: Served, text: string, path: string): Promise<number> {
  const connection = await Connection.open(served)
  const begunMs = performance.now()
  const status = await connection.exchange(requestBytes(served, { method: 'POST', path: crdPath, body: text }))
  if (status !== 201) throw new Error(`creating a CRD failed with status ${status}`)
  while ((await connection.exchange(requestBytes(served, { method: 'GET', path }))) !== 200);
  const tookMs = performance.now() - begunMs
  connection.close()
  return tookMs
}

export async function measureCustomResources(lab: Lab): Promise<readonly Line[]> {
  return [...(await compareWithConfigMaps(lab)), ...measureRules(), ...(await measureManyDefinitions(lab))]
}

async function compareWithConfigMaps(lab: Lab): Promise<readonly Line[]> {
  const { served } = await lab.start()
  const maps = await makeNamespace(served, 'bench-custom')
  const boxes = `/apis/${group}/v1/namespaces/bench-custom/boxes`
  await createDefinition(served, definitionText('boxes', 'Box', stringProperties), boxes)
  const map = { apiVersion: 'v1', kind: 'ConfigMap' }
  const box = { apiVersion: `${group}/v1`, kind: 'Box' }
  const bodyOf = (type: object, name: string, text: string): string => JSON.stringify({ ...type, metadata: { name }, data: dataOf(text) })
  const side = async (next: (connection: number, counter: number) => RequestParts, expect: number): Promise<Side> => {
    const generator = await lab.generator(served, 8)
    return { run: (durationMs) => generator.run({ durationMs, expect, next: (i, counter) => requestBytes(served, next(i, counter)) }) }
  }
  const line = async (workload: string, bar: number, floor: Side, server: Side): Promise<Line> => {
    const compared = await compare(floor, server, lab.rounds)
    return {
      workload,
      floor: microseconds(compared.floor),
      server: microseconds(compared.server),
      ratio: compared.ratio,
      bar,
      note: 'floor: ConfigMap',
    }
  }
  const listed = await makeNamespace(served, 'bench-custom-list')
  const listedBoxes = `/apis/${group}/v1/namespaces/bench-custom-list/boxes`
  await fill(served, { path: listed, count: 200, body: (i) => bodyOf(map, `o-${i}`, 'x') })
  await fill(served, { path: listedBoxes, count: 200, body: (i) => bodyOf(box, `o-${i}`, 'x') })
  const list = (path: string) => (): RequestParts => ({ method: 'GET', path: `${path}?resourceVersion=0` })
  const create = (path: string, type: object, prefix: string) => (connection: number, counter: number) => ({
    method: 'POST',
    path,
    body: bodyOf(type, `${prefix}-${connection}-${counter}`, 'x'),
  })
  const apply = (path: string, type: object, prefix: string) => (connection: number, counter: number) => ({
    method: 'PATCH',
    path: `${path}/${prefix}-${connection}?fieldManager=bench&force=true`,
    type: 'application/apply-patch+yaml',
    body: bodyOf(type, `${prefix}-${connection}`, String(counter)),
  })
  for (let i = 0; i < 8; i++) {
    await fetchOnce(served, { method: 'POST', path: maps, body: bodyOf(map, `a-${i}`, 'x') })
    await fetchOnce(served, { method: 'POST', path: boxes, body: bodyOf(box, `a-${i}`, 'x') })
  }
  return [
    await line('create, custom, 50 fields', 1.3, await side(create(maps, map, 'c'), 201), await side(create(boxes, box, 'c'), 201)),
    await line('apply, custom, 50 fields', 1.3, await side(apply(maps, map, 'a'), 200), await side(apply(boxes, box, 'a'), 200)),
    await line('list, 200 custom objects', 1.05, await side(list(listed), 200), await side(list(listedBoxes), 200)),
  ]
}

/** CEL rules, evaluated in this process: from data to the result, with new values each time. */
function measureRules(): readonly Line[] {
  const schema: ValueSchema = {
    type: 'object',
    properties: { least: { type: 'integer' }, size: { type: 'integer' }, list: { type: 'array', items: { type: 'integer' } } },
  }
  const data = { least: 1, size: 2, list: Array.from({ length: 1000 }, (_, i) => i) }
  const time = (text: string, times: number): { readonly each: number; readonly cost: number } => {
    const root = typeOfSchema(schema, false, 'selfType')
    if (root === undefined) throw new Error('the schema has no type')
    const program = compileExpression(text, environmentOf(root, ['self']))
    let cost = 0
    const rounds = Array.from({ length: 7 }, () => {
      const begunMs = performance.now()
      for (let i = 0; i < times; i++) cost = program.evaluate({ self: valueBySchema(data, schema) }, 1_000_000).cost
      return ((performance.now() - begunMs) * 1000) / times
    })
    return { each: median(rounds), cost }
  }
  const simple = time('self.size >= self.least', 20_000)
  const long = time('self.list.all(item, item < 1000)', 200)
  return [
    {
      workload: 'rule, simple',
      floor: '5 µs',
      server: microseconds(simple.each),
      ratio: simple.each / 5,
      bar: 1,
      note: 'floor: the limit',
    },
    { workload: 'rule, list of 1,000', floor: '', server: microseconds(long.each), note: `${long.cost} units of cost` },
  ]
}

const crdCount = 500

async function measureManyDefinitions(lab: Lab): Promise<readonly Line[]> {
  const [emptyFolder, crdFolder] = [join(lab.folder, 'no-crds'), join(lab.folder, 'crds')]
  const nameOf = (i: number): string => `things${i}s`
  const first = await lab.startIn(crdFolder)
  for (let i = 0; i < crdCount; i++) {
    const response = await fetchOnce(first.served, {
      method: 'POST',
      path: crdPath,
      body: definitionText(nameOf(i), `Thing${i}`, stringProperties),
    })
    if (response.status !== 201) throw new Error(`creating a CRD failed with status ${response.status}`)
  }
  await first.process.stop()
  await (await lab.startIn(emptyFolder)).process.stop()
  const startOf = async (folder: string): Promise<{ readonly ms: number; readonly bytes: number }> => {
    const begunMs = performance.now()
    const { process: server, served } = await lab.startIn(folder)
    const path = folder === crdFolder ? `/apis/${group}/v1/${nameOf(crdCount - 1)}` : '/api/v1/configmaps'
    while ((await fetchOnce(served, { method: 'GET', path })).status !== 200);
    const ms = performance.now() - begunMs
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const { residentBytes } = memoryOf(server.pid)
    await server.stop()
    return { ms, bytes: residentBytes }
  }
  const [withoutCrds, withCrds]: [{ ms: number; bytes: number }[], { ms: number; bytes: number }[]] = [[], []]
  for (let i = 0; i < (lab.isQuick ? 3 : 7); i++) {
    withoutCrds.push(await startOf(emptyFolder))
    withCrds.push(await startOf(crdFolder))
  }
  const [withoutCrdsMs, withCrdsMs] = [median(withoutCrds.map(({ ms }) => ms)), median(withCrds.map(({ ms }) => ms))]
  const addedBytes = median(withCrds.map(({ bytes }) => bytes)) - median(withoutCrds.map(({ bytes }) => bytes))
  const maxAddedBytes = 60 * 1024 * 1024
  return [
    {
      workload: 'start, 500 CRDs',
      floor: milliseconds(withoutCrdsMs),
      server: milliseconds(withCrdsMs),
      ratio: withCrdsMs / withoutCrdsMs,
      bar: 1.5,
      note: 'floor: no CRDs',
    },
    {
      workload: 'memory, 500 CRDs',
      floor: mebibytes(maxAddedBytes),
      server: mebibytes(addedBytes),
      ratio: addedBytes / maxAddedBytes,
      bar: 1,
      note: 'floor: the limit',
    },
    ...(await measureAddedCrd(lab, crdFolder)),
  ]
}

/** Time until one more CRD is served, and latency of other requests while OpenAPI documents are rebuilt. */
async function measureAddedCrd(lab: Lab, folder: string): Promise<readonly Line[]> {
  const { served } = await lab.startIn(folder)
  const maps = await makeNamespace(served, 'bench-more')
  await fill(served, { path: maps, count: 1, body: () => JSON.stringify({ metadata: { name: 'object' } }) })
  const servedAfterMs: number[] = []
  for (let i = 0; i < 9; i++) {
    const plural = `more${i}s`
    servedAfterMs.push(await createDefinition(served, definitionText(plural, `More${i}`, stringProperties), `/apis/${group}/v1/${plural}`))
  }
  const documents = async (): Promise<void> => {
    await fetchOnce(served, { method: 'GET', path: `/openapi/v3/apis/${group}/v1` })
    await fetchOnce(served, { method: 'GET', path: '/openapi/v2' })
  }
  await documents()
  const prober = new Prober(served, { method: 'GET', path: `${maps}/object` })
  const waits: number[] = []
  for (let i = 0; i < (lab.isQuick ? 3 : 7); i++) {
    const change = {
      method: 'PATCH',
      path: `${crdPath}/more0s.${group}`,
      type: 'application/merge-patch+json',
      body: JSON.stringify({
        spec: {
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', description: `${i}` } } }],
        },
      }),
    }
    const { longestMs } = await prober.during(async () => {
      await fetchOnce(served, change)
      await documents()
    })
    waits.push(longestMs)
  }
  await prober.close()
  const row = (workload: string, ms: number, allowedMs: number, note: string): Line => ({
    workload,
    floor: milliseconds(allowedMs),
    server: milliseconds(ms),
    ratio: ms / allowedMs,
    bar: 1,
    note,
  })
  return [
    row('one more CRD served', median(servedAfterMs), 100, 'floor: the limit'),
    row('get while OpenAPI is rebuilt', median(waits), 20, 'longest latency; floor: the limit'),
  ]
}
