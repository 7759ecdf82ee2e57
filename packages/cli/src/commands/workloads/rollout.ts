// `rollout`: status, history, undo, restart, pause, resume.

import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type Command, defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import type { Session } from '../../command-line/session.js'
import { renderTabbed } from '../../describe/description.js'
import { type Template, templateEntry } from '../../describe/pod.js'
import { fullNameOf, type NamedObject, nameOfObject } from '../../objects/named-object.js'
import { waitUntil } from '../../objects/wait-until.js'
import { type PodTemplate, resolveWorkloads, rolloutFlags, rolloutProgress, type Workload } from '../../objects/workload.js'
import { printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { goJson } from '../../output/documents.js'
import { outputOf, printFlags } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'

export const rolloutStatus = defineCommand({
  usage: 'rollout status (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [flags]',
  flags: {
    ...rolloutFlags,
    watch: { kind: 'switch', short: 'w', initial: 'true', help: 'wait until the rollout is done' },
    timeout: { kind: 'text', initial: '0', help: 'timeout; 0: none' },
    revision: { kind: 'number', initial: '0', help: 'expected revision; fails if another one is rolled out; 0: latest' },
  },
  run: async (context) => {
    const { flags, session, io, signal } = context
    const ms = durationMs('timeout', flags.timeout ?? '0')
    const requestedRevision = flags.revision ?? 0
    if (requestedRevision < 0) throw new CommandError(`revision must be a positive integer: ${requestedRevision}`)
    const deadline = ms > 0 ? Date.now() + ms : undefined
    const annotation = (await session.resources.identity()).label('revision', 'deployment')
    for (const target of await resolveWorkloads(context)) {
      const { resource, name, collection } = target
      await collection.get(name)
      let lastText = ''
      await waitUntil(
        target,
        (object) => {
          if (object === undefined) throw new CommandError('object has been deleted')
          if (requestedRevision > 0 && resource.kind === 'Deployment') {
            const running = Number(object.metadata?.annotations?.[annotation] ?? 0)
            if (running !== requestedRevision)
              throw new CommandError(`desired revision (${requestedRevision}) is different from the running revision (${running})`)
          }
          const { text, isDone } = rolloutProgress(resource.kind, object as Workload)
          if (text !== lastText) io.out(`${text}\n`)
          lastText = text
          return isDone || !flags.watch
        },
        { deadline, signal, io },
      )
    }
    return 0
  },
})

export const rolloutHistory = defineCommand({
  usage: 'rollout history (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [flags]',
  flags: { ...rolloutFlags, ...printFlags, revision: { kind: 'number', initial: '0', help: 'show the pod template of this revision' } },
  run: async (context) => {
    const { flags, session, io } = context
    const requestedRevision = flags.revision ?? 0
    if (requestedRevision < 0) throw new UsageError(`revision must be a positive integer: ${requestedRevision}`)
    const format = outputOf(flags)
    const causeName = (await session.resources.identity()).label('change-cause')
    const withCause = ({ template, cause }: Revision): Template => ({
      ...(template as Template),
      metadata: {
        ...template.metadata,
        annotations: { ...template.metadata?.annotations, ...(cause === noCause ? {} : { [causeName]: cause }) },
      },
    })
    const printer = format === '' ? undefined : printerFor({ flags, nameOf: nameOfObject })
    let hasOutput = false
    for (const target of await resolveWorkloads(context)) {
      const { resource, name, collection } = target
      const revisions = await revisionsOf(target, (await collection.get(name)) as Workload, session)
      const selected = requestedRevision > 0 ? revisions.filter(({ number }) => number === requestedRevision) : revisions
      if (requestedRevision > 0 && selected.length === 0)
        throw new CommandError(
          `unable to find the specified revision; revisions: ${revisions.map(({ number }) => number).join(', ') || 'none'}`,
        )
      if (printer !== undefined) {
        for (const { object } of selected) {
          io.data(`${hasOutput && format === 'yaml' ? '---\n' : ''}${printer.print([object], false)}`)
          hasOutput = true
        }
        continue
      }
      io.out(`${fullNameOf(resource, name)} ${requestedRevision > 0 ? `with revision #${requestedRevision}` : ''}\n`)
      const [firstRevision] = selected
      if (firstRevision === undefined) io.out('No rollout history found.\n')
      else if (requestedRevision > 0) io.out(`${renderTabbed([templateEntry(withCause(firstRevision))])}\n`)
      else
        io.out(
          `${alignRows([headerRow(['REVISION', 'CHANGE-CAUSE'], io.style), ...revisions.map(({ number, cause }) => [String(number), cause])], [], 2)}\n`,
        )
    }
    return 0
  },
})

/** Ignores empty maps and null fields. */
const isSame = (a: unknown, b: unknown): boolean => goJson(trimmed(a)) === goJson(trimmed(b))

function trimmed(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value ?? undefined
  if (Array.isArray(value)) return value.map(trimmed)
  const members = Object.entries(value).map(([name, member]) => [name, trimmed(member)] as const)
  const entries = members.filter(([, member]) => member !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

export const rolloutUndo = defineCommand({
  usage: 'rollout undo (TYPE [NAME] | TYPE/NAME | TYPE -l SELECTOR | -f FILE) [--to-revision=N]',
  flags: { ...rolloutFlags, ...writeFlags, 'to-revision': { kind: 'number', initial: '0', help: 'revision to roll back to; 0: previous' } },
  run: async (context) => {
    const { flags, session, io } = context
    const results: Result[] = []
    const code = await forEach(await resolveWorkloads(context), io, async (target) => {
      const { collection, name, resource } = target
      const live = (await collection.get(name)) as Workload
      if (live.spec?.paused === true)
        throw new CommandError(
          `you cannot roll back a paused deployment; resume it first with "clusterctl rollout resume deployment/${name}"`,
        )
      const revisions = await revisionsOf(target, live, session)
      const requestedRevision = flags['to-revision'] ?? 0
      const revision = requestedRevision > 0 ? revisions.find(({ number }) => number === requestedRevision) : revisions.at(-2)
      if (revision === undefined)
        throw new CommandError(
          requestedRevision > 0
            ? `unable to find specified revision ${requestedRevision} in history`
            : `no rollout history found for ${resource.kind.toLowerCase()} "${name}"`,
        )
      const rollBack = (current: Workload): Workload => ({
        ...current,
        spec: { ...current.spec, template: withoutHash(revision.template) },
      })
      const next = rollBack(live)
      if (isSame(next.spec?.template, live.spec?.template)) {
        results.push({
          resource,
          name,
          operation: `skipped rollback (current template already matches revision ${revision.number})`,
          object: live,
        })
        return
      }
      const object = await writeUnlessDryRun<DynamicObject>(flags, next, (options) => collection.modify(name, rollBack, options))
      results.push({ resource, name, operation: 'rolled back', object })
    })
    printResults(results, flags, io)
    return code
  },
})

export const rolloutRestart = defineCommand({
  usage: 'rollout restart (TYPE [NAME] | TYPE/NAME | -l SELECTOR) [flags]',
  flags: { ...rolloutFlags, ...writeFlags },
  run: async (context) => {
    const { flags, io, session } = context
    const results: Result[] = []
    const annotation = (await session.resources.identity()).label('restartedAt', 'kubectl')
    const code = await forEach(await resolveWorkloads(context), io, async (target) => {
      const { collection, name, resource } = target
      const live = (await collection.get(name)) as Workload
      if (live.spec?.paused === true)
        throw new CommandError(`${resource.resource} "${name}" can't be restarted while it is paused (run rollout resume first)`)
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
      const patch = { spec: { template: { metadata: { annotations: { [annotation]: now } } } } }
      const { spec, spec: { template } = {} } = live
      const annotations = { ...template?.metadata?.annotations, [annotation]: now }
      const draft = { ...live, spec: { ...spec, template: { ...template, metadata: { ...template?.metadata, annotations } } } }
      const object = await writeUnlessDryRun<DynamicObject>(flags, draft, (options) => collection.patch(name, patch, options))
      results.push({ resource, name, operation: 'restarted', object })
    })
    printResults(results, flags, io)
    return code
  },
})

const pauseCommand = (action: 'pause' | 'resume'): Command =>
  defineCommand({
    usage: `rollout ${action} deployment/NAME [flags]`,
    flags: { ...rolloutFlags, ...writeFlags },
    run: async (context) => {
      const { flags, io } = context
      const results: Result[] = []
      const code = await forEach(await resolveWorkloads(context, ['Deployment']), io, async (target) => {
        const { collection, name, resource } = target
        const live = (await collection.get(name)) as Workload
        if ((live.spec?.paused === true) === (action === 'pause'))
          throw new CommandError(
            `${resource.resource}.${resource.group} "${name}" is ${action === 'pause' ? 'already paused' : 'not paused'}`,
          )
        const draft = { ...live, spec: { ...live.spec, paused: action === 'pause' } }
        const patch = { spec: { paused: action === 'pause' ? true : null } }
        const object = await writeUnlessDryRun<DynamicObject>(flags, draft, (options) => collection.patch(name, patch, options))
        results.push({ resource, name, operation: action === 'pause' ? 'paused' : 'resumed', object })
      })
      printResults(results, flags, io)
      return code
    },
  })

const noCause = '<none>'

interface Revision {
  readonly number: number
  readonly cause: string
  readonly template: PodTemplate
  readonly object: DynamicObject
}

async function revisionsOf({ resource, collection }: NamedObject, live: Workload, session: Session): Promise<readonly Revision[]> {
  const identity = await session.resources.identity()
  const isDeployment = resource.kind === 'Deployment'
  const revisionResource = await session.resources.find(isDeployment ? 'replicasets.apps' : 'controllerrevisions.apps')
  const owned: DynamicObject[] = []
  for await (const object of session.client.collection(revisionResource, collection.namespace).items())
    if (object.metadata?.ownerReferences?.some(({ uid }) => uid === live.metadata?.uid)) owned.push(object)
  const revisions = owned.map((object): Revision => {
    const annotations = object.metadata?.annotations ?? {}
    const number = isDeployment ? Number(annotations[identity.label('revision', 'deployment')] ?? 0) : Number(object['revision'] ?? 0)
    const data = (object['data'] as { readonly spec?: { readonly template?: PodTemplate } } | undefined)?.spec?.template
    const template = isDeployment ? (object as Workload).spec?.template : withoutDirective(data)
    return {
      number,
      cause: annotations[identity.label('change-cause')] ?? noCause,
      template: template ?? {},
      object: isDeployment ? object : { ...live, spec: { ...live.spec, template: template ?? {} } },
    }
  })
  return revisions.toSorted((a, b) => a.number - b.number)
}

function withoutDirective(template: (PodTemplate & { readonly $patch?: string }) | undefined): PodTemplate | undefined {
  if (template === undefined) return undefined
  const { $patch: _, ...rest } = template
  return rest
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {}
  return { ...template, metadata: { ...template.metadata, labels } }
}

export const rolloutPause = pauseCommand('pause')
export const rolloutResume = pauseCommand('resume')
