// Approving and denying requests for certificates.

import { type Command, defineCommand } from './command.js'
import { forEach } from './each.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'
import { type Result, tellResults, writeFlags, writeUnlessDry } from './results.js'
import { fileFlags, type Named, namedOrFiled } from './targets.js'

interface Condition {
  readonly type: string
  readonly status: string
}

export const approval = (deed: 'approve' | 'deny'): Command =>
  defineCommand({
    usage: `certificate ${deed} (NAME… | -f FILE) [flags]`,
    about: `${deed} requests for certificates`,
    flags: { ...fileFlags, ...writeFlags, force: { kind: 'switch', help: 'once more, and where somebody else decided' } },
    run: async (work) => {
      const { flags, io, session } = work
      if (work.args.length === 0 && flags.filename.length === 0)
        throw new UsageError('one or more requests must be named, or a file with -f; "clusterctl get certificatesigningrequests" shows all')
      const type = deed === 'approve' ? 'Approved' : 'Denied'
      const requests = await session.resources.find('certificatesigningrequests')
      const args = work.args.length === 0 ? [] : ['certificatesigningrequests', ...work.args.map((word) => word.replace(/^[^/]*\//, ''))]
      const named: readonly Named[] = await namedOrFiled(args, flags, work)
      const results: Result[] = []
      const code = await forEach(named, io, async ({ collection, name }) => {
        const live = await collection.get(name)
        const conditions = ((live['status'] as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? []).filter(
          (one) => !(flags.force && one.type === type),
        )
        const other = conditions.find((one) => one.type === (deed === 'approve' ? 'Denied' : 'Approved') && one.status === 'True')
        if (other !== undefined) throw new Failure(`certificate signing request ${name} is already ${other.type}`)
        const what = deed === 'approve' ? 'approved' : 'denied'
        if (conditions.some((one) => one.type === type)) {
          results.push({ resource: requests, name, what, object: live })
          return
        }
        const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
        const condition = {
          type,
          status: 'True',
          reason: `Kubectl${deed === 'approve' ? 'Approve' : 'Deny'}`,
          message: `This CSR was ${what} by clusterctl certificate ${deed}.`,
          lastUpdateTime: now,
        }
        const status = { ...(live['status'] as object | undefined), conditions: [...conditions, condition] }
        const draft = { ...live, status }
        const object = await writeUnlessDry(flags, draft, (terms) => collection.subresource('approval').update(draft, terms))
        results.push({ resource: requests, name, what, object })
      })
      tellResults(results, flags, io)
      return code
    },
  })
