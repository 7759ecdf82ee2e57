// `cordon`, `uncordon` and `taint`.

import { labelValue, qualifiedName } from '@cluster-apiserver/api/api/validation/name-formats.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type Command, defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import type { Io } from '../../command-line/io.js'
import type { Session } from '../../command-line/session.js'
import { resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { parseValidation, printResults, type Result, validationFlag, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'

export const taint = defineCommand({
  usage: 'taint (TYPE NAME… | TYPE --all | TYPE -l SELECTOR) KEY=VALUE:EFFECT… KEY[:EFFECT]-… [flags]',
  examples: ['taint node worker-1 use=games:NoSchedule', 'taint node worker-1 use-', 'taint node --all use=all:NoExecute --overwrite'],
  flags: {
    ...writeFlags,
    selector: selectFlags.selector,
    overwrite: { kind: 'switch', help: 'allow changes of existing taints' },
    all: { kind: 'switch', help: 'all nodes' },
    validate: validationFlag,
  },
  run: async (context) => {
    const { flags, io, session } = context
    const words = context.args.filter(isTaintChange)
    const args = context.args.filter((arg) => !isTaintChange(arg))
    if (words.length === 0) throw new UsageError('at least one taint update is required')
    const misplaced = context.args.slice(context.args.findIndex(isTaintChange)).find((word) => !isTaintChange(word))
    if (misplaced !== undefined) throw new UsageError(`all resources must be specified before taint changes: ${misplaced}`)
    const changes = readTaints(words)
    const fieldValidation = parseValidation(flags.validate)
    const [type = ''] = args[0]?.split('/') ?? []
    if (type !== '' && (await session.resources.find(type)).resource !== 'nodes')
      throw new UsageError(`invalid resource type ${type}, only node types are supported`)
    const targets = await resolveObjects(args, { ...flags, filename: [], recursive: false }, context)
    const results: Result[] = []
    const code = await forEach(targets, io, async ({ collection, resource, name }) => {
      let result = ''
      const change = (node: DynamicObject): DynamicObject => {
        const spec = (node['spec'] ?? {}) as { readonly taints?: readonly Taint[] }
        const { taints, operation } = changedTaints(name, spec.taints ?? [], changes, flags.overwrite)
        result = operation
        return { ...node, spec: { ...spec, taints } }
      }
      const draft = change(await collection.get(name))
      const object = await writeUnlessDryRun(flags, draft, (options) => collection.modify(name, change, { ...options, fieldValidation }))
      results.push({ resource, name, operation: result, object })
    })
    printResults(results, flags, io)
    return code
  },
})

interface CordonSettings {
  readonly command: 'cordon' | 'uncordon'
  readonly isUnschedulable: boolean
}

const cordonCommand = (settings: CordonSettings): Command => {
  const { command } = settings
  return defineCommand({
    usage: `${command} (NODE… | -l SELECTOR) [flags]`,
    examples: [`${command} worker-1`, `${command} -l zone=east`],
    flags: {
      selector: selectFlags.selector,
      'dry-run': writeFlags['dry-run'],
      'field-manager': writeFlags['field-manager'],
    },
    run: async (context) => {
      const { code } = await markNodes(await findNodes(command, context), settings, context)
      return code
    },
  })
}

interface NodeCommandContext {
  readonly args: readonly string[]
  readonly flags: {
    readonly selector: string | undefined
    readonly 'dry-run': string | undefined
    readonly 'field-manager'?: string | undefined
    readonly 'chunk-size'?: number | undefined
  }
  readonly session: Session
  readonly io: Io
}

export async function findNodes(command: string, { args, flags, session }: NodeCommandContext): Promise<readonly DynamicObject[]> {
  const { selector, 'chunk-size': limit = 0 } = flags
  if (args.length === 0 && selector === undefined) throw new UsageError(`USAGE: ${command} NODE [flags]`)
  if (args.length > 0 && selector !== undefined) throw new UsageError('cannot specify both a node name and a --selector option')
  const collection = session.client.collection(await session.resources.find('nodes'), undefined)
  const nodes: DynamicObject[] = []
  for (const name of args) nodes.push(await collection.get(name.replace(/^nodes?\//, '')))
  if (selector !== undefined)
    for await (const node of collection.items({ labelSelector: selector, ...(limit > 0 ? { limit } : {}) })) nodes.push(node)
  return nodes
}

interface MarkedNodes {
  readonly code: number
  /** Nodes without an error, as they are now. */
  readonly nodes: readonly DynamicObject[]
}

/** Sets `spec.unschedulable` of nodes, and prints the results. */
export async function markNodes(
  nodes: readonly DynamicObject[],
  { command, isUnschedulable }: CordonSettings,
  { flags, session, io }: NodeCommandContext,
): Promise<MarkedNodes> {
  const resource = await session.resources.find('nodes')
  const collection = session.client.collection(resource, undefined)
  const results: Result[] = []
  const targets = nodes.map((node): { readonly node: DynamicObject; readonly origin?: string } => ({ node }))
  const code = await forEach(targets, io, async ({ node }) => {
    const name = node.metadata?.name ?? ''
    const spec = node['spec'] as { readonly unschedulable?: boolean } | undefined
    const pastTense = `${command}ed`
    if ((spec?.unschedulable ?? false) === isUnschedulable) {
      results.push({ resource, name, operation: `already ${pastTense}`, object: node })
      return
    }
    const patch = { spec: { unschedulable: isUnschedulable ? true : null } }
    const object = await writeUnlessDryRun(flags, node, (options) => collection.patch(name, patch, options))
    results.push({ resource, name, operation: pastTense, object })
  })
  printResults(results, { 'dry-run': flags['dry-run'], output: undefined }, io)
  return { code, nodes: results.map(({ object }) => object) }
}

interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
  readonly timeAdded?: string
}

interface Removal {
  readonly key: string
  readonly effect?: string
}

interface TaintChanges {
  readonly add: readonly Taint[]
  readonly remove: readonly Removal[]
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

const isTaintChange = (word: string): boolean => word.includes('=') || word.includes(':') || word.endsWith('-')

function readTaints(words: readonly string[]): TaintChanges {
  const add: Taint[] = []
  const remove: Removal[] = []
  for (const word of words) {
    if (word.endsWith('-')) {
      const { key, effect } = readTaint(word.slice(0, -1))
      remove.push({ key, ...(effect === undefined ? {} : { effect }) })
      continue
    }
    const { effect, ...taint } = readTaint(word)
    if (effect === undefined) throw new UsageError(`invalid taint spec: ${word}`)
    if (add.some((existing) => existing.key === taint.key && existing.effect === effect))
      throw new UsageError(`duplicated taints with the same key and effect: ${taint.key}:${effect}`)
    add.push({ ...taint, effect })
  }
  const conflicting = remove.filter((removal) => add.some((taint) => matches(removal, taint)))
  if (conflicting.length > 0)
    throw new UsageError(
      `can not both modify and remove the following taint(s) in the same command: ${conflicting.map(({ key, effect = '' }) => `${key}=${effect}`).join(', ')}`,
    )
  return { add, remove }
}

function readTaint(text: string): { readonly key: string; readonly value?: string; readonly effect?: string } {
  const [pair = '', effect, ...extraParts] = text.split(':')
  const [key = '', value, ...rest] = pair.split('=')
  if (effect !== undefined && !effects.includes(effect)) throw new UsageError(`invalid taint effect: ${effect}, unsupported taint effect`)
  const problems = [...(value === undefined ? [] : labelValue(value)), ...qualifiedName(key)]
  if (extraParts.length > 0 || rest.length > 0) throw new UsageError(`invalid taint spec: ${text}`)
  if (problems.length > 0) throw new UsageError(`invalid taint spec: ${text}, ${problems.join('; ')}`)
  return { key, ...(value === undefined || value === '' ? {} : { value }), ...(effect === undefined ? {} : { effect }) }
}

const matches = ({ key, effect }: Removal, taint: Taint): boolean => key === taint.key && (effect === undefined || effect === taint.effect)

function changedTaints(
  name: string,
  present: readonly Taint[],
  { add, remove }: TaintChanges,
  overwrite: boolean,
): { readonly taints: readonly Taint[]; readonly operation: string } {
  const conflicting = add.filter((taint) => present.some((existing) => matches(taint, existing)))
  if (conflicting.length > 0 && !overwrite)
    throw new CommandError(
      `node ${name} already has ${conflicting.map(({ key }) => key).join(',')} taint(s) with same effect(s) and --overwrite is false`,
    )
  const merged = [...add, ...present.filter((existing) => !add.some((taint) => matches(taint, existing)))]
  const missing = remove.filter((removal) => !merged.some((taint) => matches(removal, taint)))
  if (missing.length > 0)
    throw new CommandError(
      missing.map(({ key, effect }) => `taint "${key}${effect === undefined ? '' : `:${effect}`}" not found`).join('; '),
    )
  const hasNewCount = merged.length !== present.length
  const operation = (hasNewCount && remove.length > 0) || overwrite ? 'modified' : hasNewCount ? 'tainted' : 'untainted'
  return { taints: merged.filter((taint) => !remove.some((removal) => matches(removal, taint))), operation }
}

export const cordon = cordonCommand({ command: 'cordon', isUnschedulable: true })
export const uncordon = cordonCommand({ command: 'uncordon', isUnschedulable: false })
