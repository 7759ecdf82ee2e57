// Deletes objects, and waits until they are gone.

import { isNotFound } from '../../client/errors.js'
import { defineCommand } from '../command.js'
import { deletionFlags, deletionOf, uidOf } from '../deletion.js'
import { forEach } from '../each.js'
import { UsageError } from '../flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { dryRunOf } from '../results.js'
import { fileFlags, fullNameOf, type Named, namedOrFiled, selectFlags } from '../targets.js'
import { isRefused, waitUntilGone } from '../until.js'

export const command = defineCommand({
  usage: 'delete (TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | TYPE --all | -f FILE) [flags]',
  about: 'delete objects',
  examples: ['delete -f shop/', 'delete pods -l app=shop --wait=false', 'delete deployment shop --cascade=orphan'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...rawFlags,
    all: { kind: 'switch', help: 'all of the type in the namespace' },
    ...deletionFlags,
    wait: { kind: 'switch', initial: 'true', help: 'until they are gone' },
    now: { kind: 'switch', help: 'a grace period of one second' },
    'ignore-not-found': { kind: 'switch', help: 'what is not there is no failure' },
    'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: 'none, client or server' },
    output: { kind: 'text', short: 'o', help: 'name' },
  },
  run: async (work) => {
    const { flags, io, signal } = work
    if (flags.raw !== undefined) return askRaw(work, { method: 'DELETE', path: flags.raw, files: flags.filename })
    if (flags.output !== undefined && !['', 'name'].includes(flags.output))
      throw new UsageError(`unexpected -o output mode: ${flags.output}. We only support '-o name'`)
    const { options: terms, deadline } = deletionOf(flags)
    const dryRun = dryRunOf(flags['dry-run'])
    if (flags.force)
      io.err(
        `${io.style.yellow('Warning:')} Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n`,
      )
    const going: { readonly named: Named; readonly uid: string }[] = []
    const named = await namedOrFiled(work.args, flags, work)
    if (named.length === 0 && !flags['ignore-not-found']) io.out('No resources found\n')
    const code = await forEach(
      named,
      io,
      async (one) => {
        const { collection, name, resource } = one
        try {
          const options = { ...terms, dryRun: dryRun === 'server' }
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
            : `${full.slice(0, -1)} "${name}" ${flags.force ? 'force deleted' : 'deleted'}${note}\n`,
        )
      },
      'deleting',
    )
    if (flags.wait && dryRun === 'none') {
      for (const { named: one, uid } of going)
        await waitUntilGone(one, { uid, deadline, signal, io }).catch((thrown: unknown) => {
          // Whoever may not look has deleted it all the same.
          if (!isRefused(thrown)) throw thrown
        })
    }
    return code
  },
})

const isDefinitionOf = (other: Named, { resource }: Named): boolean =>
  other.resource.resource === 'customresourcedefinitions' && other.name === `${resource.resource}.${resource.group}`
