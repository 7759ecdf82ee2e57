// `describe`: prints descriptions of objects with their events.

import type { Collection } from '@cluster-apiserver/client/collection.js'
import { isForbidden, isNotFound } from '@cluster-apiserver/client/errors.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { defineCommand } from '../../command-line/command.js'
import { forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { describeObject, hasEvents } from '../../describe/describe-object.js'
import { type Entry, none, renderEntries } from '../../describe/description.js'
import { DescribeContext } from '../../describe/related-objects.js'
import type { NamedObject } from '../../objects/named-object.js'
import { chunkFlags, fileFlags, resolveArguments, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { type ClusterEvent, lastSeenMs, rowOfEvent } from '../../output/event-rows.js'

const eventHead = ['Type', 'Reason', 'Age', 'From', 'Message'] as const
const eventRules = ['----', '------', '----', '----', '-------'] as const

export const command = defineCommand({
  usage: 'describe (TYPE [NAME…] | TYPE/NAME… | TYPE -l SELECTOR | -f FILE) [flags]',
  examples: ['describe pod web', 'describe nodes', 'describe -f shop.yaml'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...chunkFlags,
    'show-events': { kind: 'switch', initial: 'true', help: 'show events' },
  },
  run: async (context) => {
    const { flags, io, session } = context
    if (context.args.length === 0 && flags.filename.length === 0) throw new UsageError('you must specify the type of resource to describe')
    const targets = await find()
    if (targets.length === 0)
      io.err(flags['all-namespaces'] ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`)
    const related = new DescribeContext(session)
    let isFirst = true
    const allowsPrefix = flags.filename.length === 0 && context.args.length > 1 && context.args[0]?.includes('/') === false
    return forEach(targets, io, async (target) => {
      for (const object of await objectsByNameOrPrefix(target)) {
        const entries = await describeObject(object, related)
        const events = flags['show-events'] && hasEvents(object) ? [await eventsOf(object)] : []
        io.out(`${isFirst ? '' : '\n\n'}${renderEntries([...entries, ...events], io.style)}`)
        isFirst = false
      }
    })

    async function objectsByNameOrPrefix({ collection, name }: NamedObject): Promise<readonly DynamicObject[]> {
      try {
        return [await collection.get(name)]
      } catch (thrown) {
        if (!isNotFound(thrown) || !allowsPrefix) throw thrown
        const list = await collection.metadata.list().catch((refused: unknown) => {
          throw isForbidden(refused) ? thrown : refused
        })
        const names = list.items.flatMap(({ metadata }) => (metadata?.name?.startsWith(name) === true ? [metadata.name] : []))
        if (names.length === 0) throw thrown
        return Promise.all(names.map((match) => collection.get(match)))
      }
    }

    async function find(): Promise<readonly NamedObject[]> {
      if (flags.filename.length > 0 || flags.selector !== undefined) return resolveObjects(context.args, flags, context)
      const { named: found, collections } = await resolveArguments(context.args, { session, allNamespaces: flags['all-namespaces'] })
      if (found.length > 0) return found
      return resolveObjects(context.args, { ...flags, all: collections.length > 0 }, context)
    }

    async function eventsOf({ metadata }: DynamicObject): Promise<Entry> {
      const namespace = metadata?.namespace
      const events: Collection<ClusterEvent> = session.client.collection(
        { group: '', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
        namespace,
      )
      const { items } = await events.list({ fieldSelector: `involvedObject.uid=${metadata?.uid ?? ''}` })
      if (items.length === 0) return ['Events', none]
      const rows = items
        .toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b))
        .map((event) => {
          const [age = '', type = '', reason = '', , message = ''] = rowOfEvent(event, Date.now(), false)
          return [type, reason, age, event.source?.component || event.reportingComponent || '', message]
        })
      return ['Events', { headers: eventHead, rules: eventRules, rows }]
    }
  },
})
