// Templates of simulated nodes: capacity, labels, zones and taints; and the Node objects that are created from them.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Node } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { integerIn, mappingIn, quantitiesIn, refuseUnknownMembers, textIn, textMapIn, textsIn, type Unknowns } from './read-members.js'

type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number]
type Texts = { readonly [name: string]: string }

export interface NodeTemplate {
  /** The nodes are called `<name>-1`, `<name>-2` and so on. */
  readonly name: string
  readonly count: number
  readonly capacity: Texts
  readonly labels: Texts
  readonly annotations: Texts
  /** Zones of the nodes in turn. */
  readonly zones: readonly string[]
  readonly taints: readonly Taint[]
}

/** Names of the annotations of simulated nodes and pods. */
export const annotationsOf = (identity: Identity) => ({
  /** On a node: it is simulated. */
  node: identity.label('node', 'simulation'),
  /** On a simulated node: `Silent`, `NotReady`, `DiskPressure`, `MemoryPressure` or `PIDPressure`. */
  failure: identity.label('failure', 'simulation'),
  /** On a pod: rules of its containers. */
  behaviour: identity.label('behaviour', 'simulation'),
})

export const defaultCapacity: Texts = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }
const defaultTemplate: NodeTemplate = { name: 'node', count: 1, capacity: {}, labels: {}, annotations: {}, zones: [], taints: [] }

export const plainTemplate = (count: number): NodeTemplate => ({ ...defaultTemplate, count })

const members = ['name', 'count', 'capacity', 'labels', 'annotations', 'zones', 'taints']

/** Templates of a file: `nodes: [...]`. Throws an Error that names the member. */
export function parseTemplates(value: unknown): readonly NodeTemplate[] {
  const file = mappingIn({ file: value }, 'file') ?? {}
  refuseUnknownMembers(file, ['apiVersion', 'kind', 'nodes'])
  const { nodes = [] } = file
  if (!Array.isArray(nodes)) throw new Error('nodes: must be a list')
  return nodes.map((template: unknown, i) => {
    try {
      return parseTemplate(template)
    } catch (thrown) {
      throw new Error(`nodes[${i}]: ${(thrown as Error).message}`)
    }
  })
}

function parseTemplate(value: unknown): NodeTemplate {
  const template = mappingIn({ template: value }, 'template') ?? {}
  refuseUnknownMembers(template, members)
  return {
    name: textIn(template, 'name') ?? defaultTemplate.name,
    count: integerIn(template, 'count') ?? 1,
    capacity: quantitiesIn(template, 'capacity') ?? {},
    labels: textMapIn(template, 'labels') ?? {},
    annotations: textMapIn(template, 'annotations') ?? {},
    zones: textsIn(template, 'zones') ?? [],
    taints: taintsIn(template),
  }
}

function taintsIn(template: Unknowns): readonly Taint[] {
  const { taints = [] } = template
  if (!Array.isArray(taints)) throw new Error('taints: must be a list')
  return taints.map((value: unknown, i) => {
    const taint = mappingIn({ [`taints[${i}]`]: value }, `taints[${i}]`) ?? {}
    refuseUnknownMembers(taint, ['key', 'value', 'effect'])
    const [key, text, effect] = [textIn(taint, 'key'), textIn(taint, 'value'), textIn(taint, 'effect')]
    if (!key || effect === undefined) throw new Error(`taints[${i}]: needs key and effect`)
    return { key, effect, ...(text === undefined ? {} : { value: text }) }
  })
}

/** Nodes of one template whose names are not in use. Throws an Error that names the wrong member. */
export function newNodes(template: unknown, isUsed: (name: string) => boolean, identity: Identity): readonly Node[] {
  const parsed = parseTemplate(template)
  const nodes: Node[] = []
  for (let number = 1; nodes.length < parsed.count; number++) {
    const name = `${parsed.name}-${number}`
    if (!isUsed(name)) nodes.push(nodeOf(parsed, identity, { name, zone: zoneOf(parsed, nodes.length) }))
  }
  return nodes
}

const zoneOf = ({ zones }: NodeTemplate, i: number): string | undefined => zones[i % Math.max(1, zones.length)]

/** Nodes of all templates by name. Templates with the same name continue each other's numbers. */
export function nodesOf(templates: readonly NodeTemplate[], identity: Identity): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>()
  const numbers = new Map<string, number>()
  for (const template of templates) {
    for (let i = 0; i < template.count; i++) {
      const number = (numbers.get(template.name) ?? 0) + 1
      numbers.set(template.name, number)
      const name = `${template.name}-${number}`
      nodes.set(name, nodeOf(template, identity, { name, zone: zoneOf(template, i) }))
    }
  }
  return nodes
}

interface NodePlace {
  readonly name: string
  readonly zone: string | undefined
}

function nodeOf({ capacity, labels, annotations, taints }: NodeTemplate, identity: Identity, { name, zone }: NodePlace): Node {
  const simulation = annotationsOf(identity)
  return {
    metadata: {
      name,
      labels: {
        [identity.label('hostname')]: name,
        [identity.label('os')]: 'linux',
        [identity.label('arch')]: 'amd64',
        ...(zone === undefined ? {} : { [identity.label('zone', 'topology')]: zone }),
        ...labels,
      },
      annotations: {
        [simulation.node]: 'true',
        ...annotations,
      },
    },
    ...(taints.length === 0 ? {} : { spec: { taints } }),
    status: { capacity: { ...defaultCapacity, ...capacity } },
  }
}
