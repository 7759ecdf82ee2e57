// Creates a job: of one image, or of what a cron job would run.

import type { CronJob } from '../../client/typed/types.js'
import { defineCommand, type Work } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'
import { Failure } from '../failure.js'
import { type FlagTable, UsageError } from '../flags.js'
import { oneNamed } from '../targets.js'

const flags = {
  ...createFlags,
  image: { kind: 'text', help: 'the image of its container' },
  from: { kind: 'text', help: 'the cron job whose work it does now: cronjob/NAME' },
} as const satisfies FlagTable

export const command = defineCommand({
  usage: 'create job NAME (--image=IMAGE [-- COMMAND…] | --from=cronjob/NAME)',
  about: 'create a job',
  examples: ['create job once --image=busybox -- date', 'create job now --from=cronjob/nightly'],
  flags,
  run: async (work) => {
    const { args, flags: given, rest } = work
    const name = nameIn(args)
    const { image, from } = given
    if ((image === undefined) === (from === undefined))
      throw new UsageError(image === undefined ? 'either --image or --from must be specified' : 'specify only one of --image and --from')
    if (from !== undefined && rest !== undefined) throw new UsageError('cannot specify --from and command')
    const made = from === undefined ? { spec: jobSpec(name, image ?? '', rest) } : await jobOf(from, work)
    return createOne({ apiVersion: 'batch/v1', kind: 'Job', ...made, metadata: { ...made.metadata, name } }, work)
  },
})

/** Of a job that runs one container to its end. */
export const jobSpec = (name: string, image: string, command: readonly string[] | undefined, restartPolicy = 'Never'): object => ({
  template: { spec: { containers: [{ name, image, ...(command === undefined ? {} : { command }) }], restartPolicy } },
})

interface Made {
  readonly metadata?: object
  readonly spec: object
}

async function jobOf(from: string, { session }: Work<typeof flags>): Promise<Made> {
  const { resource, collection, name } = await oneNamed([from], { session })
  if (resource.kind !== 'CronJob') throw new Failure(`--from takes a cron job, and "${from}" is a ${resource.kind}`)
  const { metadata, spec } = (await collection.get(name)) as unknown as CronJob
  const { metadata: inner = {}, spec: template = {} } = spec?.jobTemplate ?? {}
  const identity = await session.resources.identity()
  return {
    metadata: {
      annotations: { ...inner.annotations, [identity.label('instantiate', 'cronjob')]: 'manual' },
      ...(inner.labels === undefined ? {} : { labels: inner.labels }),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: metadata?.uid ?? '', controller: true }],
    },
    spec: template,
  }
}
