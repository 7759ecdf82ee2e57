// Shows everything about objects as people read it: their fields, and what was told about them.

import type { Collection } from '../../client/collection.js'
import { isForbidden, isNotFound } from '../../client/errors.js'
import type { DynamicObject } from '../../client/objects.js'
import { defineCommand } from '../command.js'
import { DescribeContext } from '../describe/context.js'
import { describeObject, hasEvents } from '../describe/describe-object.js'
import { type Entry, none, renderEntries } from '../describe/entry.js'
import { forEach } from '../each.js'
import { type ClusterEvent, lastSeenMs, rowOfEvent } from '../event-rows.js'
import { UsageError } from '../flags.js'
import { chunkFlags, fileFlags, type Named, namedOrFiled, selectFlags, wantedBy } from '../targets.js'

const eventHead = ['Type', 'Reason', 'Age', 'From', 'Message'] as const
const eventRules = ['----', '------', '----', '----', '-------'] as const

export const command = defineCommand({
  usage: 'describe (TYPE [NAME…] | TYPE/NAME… | TYPE -l SELECTOR | -f FILE) [flags]',
  about: 'show everything about objects',
  examples: ['describe pod web', 'describe nodes', 'describe -f shop.yaml'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...chunkFlags,
    'show-events': { kind: 'switch', initial: 'true', help: 'with what was told about them' },
  },
  run: async (work) => {
    const { flags, io, session } = work
    if (work.args.length === 0 && flags.filename.length === 0) throw new UsageError('you must specify the type of resource to describe')
    const named = await find()
    if (named.length === 0)
      io.err(flags['all-namespaces'] ? 'No resources found\n' : `No resources found in ${session.namespace} namespace.\n`)
    const context = new DescribeContext(session)
    let isFirst = true
    const mayBePrefix = flags.filename.length === 0 && work.args.length > 1 && work.args[0]?.includes('/') === false
    return forEach(named, io, async (one) => {
      for (const object of await objectsMeant(one)) {
        const entries = await describeObject(object, context)
        const events = flags['show-events'] && hasEvents(object) ? [await eventsOf(object)] : []
        io.out(`${isFirst ? '' : '\n\n'}${renderEntries([...entries, ...events], io.style)}`)
        isFirst = false
      }
    })

    /** A name that nothing has may be the beginning of others. */
    async function objectsMeant({ collection, name }: Named): Promise<readonly DynamicObject[]> {
      try {
        return [await collection.get(name)]
      } catch (thrown) {
        if (!isNotFound(thrown) || !mayBePrefix) throw thrown
        const list = await collection.metadata.list().catch((refused: unknown) => {
          throw isForbidden(refused) ? thrown : refused
        })
        const names = list.items.flatMap(({ metadata }) => (metadata?.name?.startsWith(name) === true ? [metadata.name] : []))
        if (names.length === 0) throw thrown
        return Promise.all(names.map((each) => collection.get(each)))
      }
    }

    async function find(): Promise<readonly Named[]> {
      if (flags.filename.length > 0 || flags.selector !== undefined) return namedOrFiled(work.args, flags, work)
      const { named: found, collections } = await wantedBy(work.args, { session, allNamespaces: flags['all-namespaces'] })
      if (found.length > 0) return found
      return namedOrFiled(work.args, { ...flags, all: collections.length > 0 }, work)
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
