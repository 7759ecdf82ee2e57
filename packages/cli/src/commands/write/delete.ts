// `delete`: deletes objects and waits until they are deleted, unless --wait=false.

import { isNotFound } from '@cluster-apiserver/client/errors.js'
import { defineCommand } from '../../command-line/command.js'
import { forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { deletionFlags, readDeletionFlags, uidOf } from '../../objects/delete-object.js'
import { fullNameOf, type NamedObject } from '../../objects/named-object.js'
import { fileFlags, resolveObjects, selectFlags } from '../../objects/object-arguments.js'
import { rawFlags, sendRaw } from '../../objects/raw-request.js'
import { isForbiddenOrUnsupported, waitUntilDeleted } from '../../objects/wait-until.js'
import { parseDryRun } from '../../objects/write-results.js'

export const command = defineCommand({
  usage: 'delete (TYPE NAME… | TYPE/NAME… | TYPE -l SELECTOR | TYPE --all | -f FILE) [flags]',
  examples: ['delete -f shop/', 'delete pods -l app=shop --wait=false', 'delete deployment shop --cascade=orphan'],
  flags: {
    ...fileFlags,
    ...selectFlags,
    ...rawFlags,
    all: { kind: 'switch', help: 'all objects of the type in the namespace' },
    ...deletionFlags,
    wait: { kind: 'switch', initial: 'true', help: 'wait until the objects are deleted' },
    now: { kind: 'switch', help: 'use a grace period of one second' },
    'ignore-not-found': { kind: 'switch', help: 'missing objects are not an error' },
    'dry-run': { kind: 'text', bare: 'unchanged', initial: 'none', help: 'none, client or server' },
    output: { kind: 'text', short: 'o', help: 'name' },
  },
  run: async (context) => {
    const { flags, io, signal } = context
    if (flags.raw !== undefined) return sendRaw(context, { method: 'DELETE', path: flags.raw, files: flags.filename })
    if (flags.output !== undefined && !['', 'name'].includes(flags.output))
      throw new UsageError(`unexpected -o output mode: ${flags.output}. We only support '-o name'`)
    const { options: deletionOptions, deadline } = readDeletionFlags(flags)
    const dryRun = parseDryRun(flags['dry-run'])
    if (flags.force)
      io.err(
        `${io.style.yellow('Warning:')} Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.\n`,
      )
    const terminating: { readonly target: NamedObject; readonly uid: string }[] = []
    const targets = await resolveObjects(context.args, flags, context)
    if (targets.length === 0 && !flags['ignore-not-found']) io.out('No resources found\n')
    const code = await forEach(
      targets,
      io,
      async (target) => {
        const { collection, name, resource } = target
        try {
          const options = { ...deletionOptions, dryRun: dryRun === 'server' }
          if (dryRun === 'client') await collection.get(name)
          else terminating.push({ target, uid: uidOf(await collection.delete(name, options)) })
        } catch (thrown) {
          if (isNotFound(thrown) && flags['ignore-not-found']) return
          // A missing custom resource is no error if this command has deleted its CRD before.
          if (!isNotFound(thrown) || !terminating.some(({ target: other }) => isCrdOf(other, target))) throw thrown
        }
        const note = dryRun === 'none' ? '' : ` (${dryRun === 'server' ? 'server ' : ''}dry run)`
        const namePrefix = fullNameOf(resource, '')
        io.out(
          flags.output === 'name'
            ? `${namePrefix}${name}\n`
            : `${namePrefix.slice(0, -1)} "${name}" ${flags.force ? 'force deleted' : 'deleted'}${note}\n`,
        )
      },
      'deleting',
    )
    if (flags.wait && dryRun === 'none') {
      for (const { target, uid } of terminating)
        await waitUntilDeleted(target, { uid, deadline, signal, io }).catch((thrown: unknown) => {
          if (!isForbiddenOrUnsupported(thrown)) throw thrown
        })
    }
    return code
  },
})

const isCrdOf = (other: NamedObject, { resource }: NamedObject): boolean =>
  other.resource.resource === 'customresourcedefinitions' && other.name === `${resource.resource}.${resource.group}`
