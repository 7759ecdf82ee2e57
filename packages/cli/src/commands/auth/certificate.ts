// `certificate approve` and `certificate deny`.

import { type Command, defineCommand } from '../../command-line/command.js'
import { CommandError, forEach } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import type { NamedObject } from '../../objects/named-object.js'
import { fileFlags, resolveObjects } from '../../objects/object-arguments.js'
import { printResults, type Result, writeFlags, writeUnlessDryRun } from '../../objects/write-results.js'

interface Condition {
  readonly type: string
  readonly status: string
}

const approvalCommand = (action: 'approve' | 'deny'): Command =>
  defineCommand({
    usage: `certificate ${action} (NAME… | -f FILE) [flags]`,
    flags: { ...fileFlags, ...writeFlags, force: { kind: 'switch', help: 'replace an existing condition of the same type' } },
    run: async (context) => {
      const { flags, io, session } = context
      if (context.args.length === 0 && flags.filename.length === 0)
        throw new UsageError(
          'one or more requests (NAME) or a file (-f) are required; "clusterctl get certificatesigningrequests" lists them',
        )
      const type = action === 'approve' ? 'Approved' : 'Denied'
      const requests = await session.resources.find('certificatesigningrequests')
      const args =
        context.args.length === 0 ? [] : ['certificatesigningrequests', ...context.args.map((arg) => arg.replace(/^[^/]*\//, ''))]
      const targets: readonly NamedObject[] = await resolveObjects(args, flags, context)
      const results: Result[] = []
      const code = await forEach(targets, io, async ({ collection, name }) => {
        const live = await collection.get(name)
        const conditions = ((live['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []).filter(
          (entry) => !(flags.force && entry.type === type),
        )
        const opposite = conditions.find(
          (entry) => entry.type === (action === 'approve' ? 'Denied' : 'Approved') && entry.status === 'True',
        )
        if (opposite !== undefined) throw new CommandError(`certificate signing request ${name} is already ${opposite.type}`)
        const operation = action === 'approve' ? 'approved' : 'denied'
        if (conditions.some((entry) => entry.type === type)) {
          results.push({ resource: requests, name, operation, object: live })
          return
        }
        const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
        const condition = {
          type,
          status: 'True',
          reason: `Kubectl${action === 'approve' ? 'Approve' : 'Deny'}`,
          message: `This CSR was ${operation} by clusterctl certificate ${action}.`,
          lastUpdateTime: now,
        }
        const status = { ...(live['status'] as object | undefined), conditions: [...conditions, condition] }
        const draft = { ...live, status }
        const object = await writeUnlessDryRun(flags, draft, (options) => collection.subresource('approval').update(draft, options))
        results.push({ resource: requests, name, operation, object })
      })
      printResults(results, flags, io)
      return code
    },
  })

export const approve = approvalCommand('approve')
export const deny = approvalCommand('deny')
