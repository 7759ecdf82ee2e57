// Sets and removes the taints of nodes, which keep pods away that do not bear them.

import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { UsageError } from '../flags.js'
import { type Result, tellResults, validationFlag, validationOf, writeFlags, writeUnlessDry } from '../results.js'
import { changedTaints, isTaintWord, readTaints, type Taint } from '../taints.js'
import { namedOrFiled, selectFlags } from '../targets.js'

export const command = defineCommand({
  usage: 'taint (TYPE NAME… | TYPE --all | TYPE -l SELECTOR) KEY=VALUE:EFFECT… KEY[:EFFECT]-… [flags]',
  about: 'set and remove taints of nodes',
  examples: ['taint node worker-1 use=games:NoSchedule', 'taint node worker-1 use-', 'taint node --all use=all:NoExecute --overwrite'],
  flags: {
    ...writeFlags,
    selector: selectFlags.selector,
    overwrite: { kind: 'switch', help: 'taints that are there already may change' },
    all: { kind: 'switch', help: 'all nodes' },
    validate: validationFlag,
  },
  run: async (work) => {
    const { flags, io, session } = work
    const words = work.args.filter(isTaintWord)
    const args = work.args.filter((one) => !isTaintWord(one))
    if (words.length === 0) throw new UsageError('at least one taint update is required')
    const late = work.args.slice(work.args.findIndex(isTaintWord)).find((word) => !isTaintWord(word))
    if (late !== undefined) throw new UsageError(`all resources must be specified before taint changes: ${late}`)
    const changes = readTaints(words)
    const fieldValidation = validationOf(flags.validate)
    const [type = ''] = args[0]?.split('/') ?? []
    if (type !== '' && (await session.resources.find(type)).resource !== 'nodes')
      throw new UsageError(`invalid resource type ${type}, only node types are supported`)
    const named = await namedOrFiled(args, { ...flags, filename: [], recursive: false }, work)
    const results: Result[] = []
    const code = await forEach(named, io, async ({ collection, resource, name }) => {
      let told = ''
      const change = (node: DynamicObject): DynamicObject => {
        const spec = (node['spec'] ?? {}) as { readonly taints?: readonly Taint[] }
        const { taints, what } = changedTaints(name, spec.taints ?? [], changes, flags.overwrite)
        told = what
        return { ...node, spec: { ...spec, taints } }
      }
      const draft = change(await collection.get(name))
      const object = await writeUnlessDry(flags, draft, (terms) => collection.modify(name, change, { ...terms, fieldValidation }))
      results.push({ resource, name, what: told, object })
    })
    tellResults(results, flags, io)
    return code
  },
})
