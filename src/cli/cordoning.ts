// Nodes that take no more pods, or take some again.

import type { DynamicObject } from '../client/objects.js'
import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { UsageError } from './flags.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { selectFlags } from './targets.js'

export interface CordonWords {
  readonly command: 'cordon' | 'uncordon'
  readonly about: string
  readonly isUnschedulable: boolean
}

export const cordonCommand = ({ command, about, isUnschedulable }: CordonWords): Command =>
  defineCommand({
    usage: `${command} (NODE… | -l SELECTOR) [flags]`,
    about,
    examples: [`${command} worker-1`, `${command} -l zone=east`],
    flags: {
      selector: selectFlags.selector,
      'dry-run': writeFlags['dry-run'],
      'field-manager': writeFlags['field-manager'],
    },
    run: async ({ args, flags, session, io }) => {
      const { selector } = flags
      if (args.length === 0 && selector === undefined) throw new UsageError(`USAGE: ${command} NODE [flags]`)
      if (args.length > 0 && selector !== undefined) throw new UsageError('cannot specify both a node name and a --selector option')
      const resource = await session.resources.find('nodes')
      const collection = session.client.collection(resource, undefined)
      const nodes: DynamicObject[] = []
      // Nothing is done where one of them is not there.
      for (const name of args) nodes.push(await collection.get(name.replace(/^nodes?\//, '')))
      if (selector !== undefined) for await (const node of collection.items({ labelSelector: selector })) nodes.push(node)
      const results: Result[] = []
      const code = await forEach<{ readonly node: DynamicObject; readonly origin?: string }>(
        nodes.map((node) => ({ node })),
        io,
        async ({ node }) => {
          const name = node.metadata?.name ?? ''
          const spec = node['spec'] as { readonly unschedulable?: boolean } | undefined
          const done = `${command}ed`
          if ((spec?.unschedulable ?? false) === isUnschedulable) {
            results.push({ resource, name, what: `already ${done}`, object: node })
            return
          }
          const patch = { spec: { unschedulable: isUnschedulable ? true : null } }
          const object = await writeUnlessDry(flags, node, (terms) => collection.patch(name, patch, terms))
          results.push({ resource, name, what: done, object })
        },
      )
      tellResults(results, { 'dry-run': flags['dry-run'], output: undefined }, io)
      return code
    },
  })
