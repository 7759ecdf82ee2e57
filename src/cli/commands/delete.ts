// Deletes objects, and waits until they are gone.

import { own } from '../../base/own.js'
import { isNotFound } from '../../client/errors.js'
import { defineCommand } from '../command.js'
import { forEach } from '../each.js'
import { durationMs, UsageError } from '../flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { dryRunOf } from '../results.js'
import { fileFlags, fullNameOf, type Named, namedOrFiled, selectFlags } from '../targets.js'
import { isRefused, waitUntilGone } from '../until.js'

const policies = { background: 'Background', foreground: 'Foreground', orphan: 'Orphan' } as const

export const command = defineCommand({
  usage: 'delete (TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | TYPE --all | -f FILE) [flags]',
  about: 'delete objects',
  examples: ['delete -f shop/', 'delete pods -l app=shop --wait=false', 'delete deployment shop --cascade=orphan'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...rawFlags,
    all: { kind: 'switch', help: 'all of the type in the namespace' },
    cascade: {
      kind: 'text',
      bare: 'background',
      initial: 'background',
      help: 'what becomes of what they own: background, foreground (goes first) or orphan (stays)',
    },
    wait: { kind: 'switch', initial: 'true', help: 'until they are gone' },
    timeout: { kind: 'text', initial: '0', help: 'how long to wait; 0: as long as it takes' },
    'grace-period': { kind: 'number', initial: '-1', help: 'seconds that they have to end; -1: as they say themselves' },
    now: { kind: 'switch', help: 'a grace period of one second' },
    force: { kind: 'switch', help: 'with a grace period of 0: at once, whoever still works on them' },
    'ignore-not-found': { kind: 'switch', help: 'what is not there is no failure' },
    'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: 'none, client or server' },
    output: { kind: 'text', short: 'o', help: 'name' },
  },
  run: async (work) => {
    const { flags, io, signal } = work
    if (flags.raw !== undefined) return askRaw(work, { method: 'DELETE', path: flags.raw, files: flags.filename })
    const cascade = flags.cascade === 'true' ? 'background' : flags.cascade === 'false' ? 'orphan' : (flags.cascade ?? '')
    const policy = own<'Background' | 'Foreground' | 'Orphan'>(policies, cascade)
    if (policy === undefined)
      throw new UsageError(`invalid cascade value (${flags.cascade}). Must be "background", "foreground", or "orphan"`)
    const dryRun = dryRunOf(flags['dry-run'])
    const grace = graceOf(flags)
    if (flags.force && grace === 0)
      io.err(
        `${io.style.yellow('Warning:')} Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n`,
      )
    const timeoutMs = durationMs('timeout', flags.timeout ?? '0')
    const going: { readonly named: Named; readonly uid: string }[] = []
    const named = await namedOrFiled(work.args, flags, work)
    if (named.length === 0 && !flags['ignore-not-found']) io.out('No resources found\n')
    const code = await forEach(
      named,
      io,
      async (one) => {
        const { collection, name, resource } = one
        try {
          const options = { dryRun: dryRun === 'server', propagationPolicy: policy, ...(grace >= 0 ? { gracePeriodSeconds: grace } : {}) }
          if (dryRun === 'client') await collection.get(name)
          else going.push({ named: one, uid: uidOf(await collection.delete(name, options)) })
        } catch (thrown) {
          if (isNotFound(thrown) && flags['ignore-not-found']) return
          // It went with its definition, which stands before it in the file.
          if (!isNotFound(thrown) || !going.some(({ named: other }) => isDefinitionOf(other, one))) throw thrown
        }
        const note = dryRun === 'none' ? '' : ` (${dryRun === 'server' ? 'server ' : ''}dry run)`
        const full = fullNameOf(resource, '')
        io.out(
          flags.output === 'name'
            ? `${full}${name}\n`
            : `${full.slice(0, -1)} "${name}" ${grace === 0 && flags.force ? 'force deleted' : 'deleted'}${note}\n`,
        )
      },
      'deleting',
    )
    if (flags.wait && dryRun === 'none') {
      const deadline = timeoutMs > 0 ? Date.now() + timeoutMs : undefined
      for (const { named: one, uid } of going)
        await waitUntilGone(one, { uid, deadline, signal, io }).catch((thrown: unknown) => {
          // Whoever may not look has deleted it all the same.
          if (!isRefused(thrown)) throw thrown
        })
    }
    return code
  },
})

interface GraceFlags {
  readonly now: boolean
  readonly force: boolean
  readonly 'grace-period': number | undefined
}

/** In seconds; less than 0: as the objects say. At once is only what is forced. */
function graceOf({ now, force, 'grace-period': given = -1 }: GraceFlags): number {
  if (now && given !== -1) throw new UsageError('--now and --grace-period cannot be specified together')
  if (force && given > 0) throw new UsageError('--force and --grace-period greater than 0 cannot be specified together')
  if (now) return 1
  if (force) return 0
  return given === 0 ? 1 : given
}

const isDefinitionOf = (other: Named, { resource }: Named): boolean =>
  other.resource.resource === 'customresourcedefinitions' && other.name === `${resource.resource}.${resource.group}`

/** Of the object that is going, or of the one that a Status tells of. */
function uidOf(answer: object): string {
  const { metadata, details } = answer as { readonly metadata?: { readonly uid?: string }; readonly details?: { readonly uid?: string } }
  return metadata?.uid ?? details?.uid ?? ''
}
