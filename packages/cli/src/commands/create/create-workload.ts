// `create deployment`, `job`, `cronjob`.

import type { CronJob } from '@cluster-apiserver/client/typed/types.js'
import { type CommandContext, defineCommand } from '../../command-line/command.js'
import { CommandError } from '../../command-line/errors.js'
import { type FlagTable, UsageError } from '../../command-line/flags.js'
import { createAndPrint, createFlags, nameArgument, requireFlag } from '../../objects/create-object.js'
import { resolveOne } from '../../objects/object-arguments.js'

export const createDeployment = defineCommand({
  usage: 'create deployment NAME --image=IMAGE [--replicas=N] [-- COMMAND…]',
  flags: {
    ...createFlags,
    image: { kind: 'list', help: 'images of the containers' },
    replicas: { kind: 'number', short: 'r', initial: '1', help: 'number of replicas' },
    port: { kind: 'number', help: 'container port' },
  },
  run: async (context) => {
    const { args, flags, rest } = context
    const name = nameArgument(args)
    if (flags.image.length === 0) throw new UsageError('required flag(s) "image" not set')
    const labels = { app: name }
    const nameOf = (image: string): string => (image.split('/').at(-1) ?? '').split(/[:@]/)[0] ?? ''
    if (flags.image.length > 1 && rest !== undefined) throw new UsageError('cannot specify multiple --image options and command')
    const names = flags.image.map((image) => nameOf(image).replaceAll('_', '-'))
    const containers = flags.image.map((image, i) => ({
      name: names.indexOf(names[i] as string) === i ? names[i] : `${names[i]}-${i + 1}`,
      image,
      ...(rest === undefined ? {} : { command: rest }),
      ...(flags.port === undefined || i > 0 ? {} : { ports: [{ containerPort: flags.port }] }),
    }))
    const spec = {
      replicas: flags.replicas ?? 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    }
    return createAndPrint({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels }, spec }, context)
  },
})

const jobFlags = {
  ...createFlags,
  image: { kind: 'text', help: 'image of the container' },
  from: { kind: 'text', help: 'cron job to run now: cronjob/NAME' },
} as const satisfies FlagTable

export const createJob = defineCommand({
  usage: 'create job NAME (--image=IMAGE [-- COMMAND…] | --from=cronjob/NAME)',
  examples: ['create job once --image=busybox -- date', 'create job now --from=cronjob/nightly'],
  flags: jobFlags,
  run: async (context) => {
    const { args, flags: flagValues, rest } = context
    const name = nameArgument(args)
    const { image, from } = flagValues
    if ((image === undefined) === (from === undefined))
      throw new UsageError(image === undefined ? 'either --image or --from must be specified' : 'specify only one of --image and --from')
    if (from !== undefined && rest !== undefined) throw new UsageError('cannot specify --from and command')
    const parts = from === undefined ? { spec: jobSpec(name, image ?? '', rest) } : await jobOf(from, context)
    return createAndPrint({ apiVersion: 'batch/v1', kind: 'Job', ...parts, metadata: { ...parts.metadata, name } }, context)
  },
})

const jobSpec = (name: string, image: string, command: readonly string[] | undefined, restartPolicy = 'Never'): object => ({
  template: { spec: { containers: [{ name, image, ...(command === undefined ? {} : { command }) }], restartPolicy } },
})

interface JobParts {
  readonly metadata?: object
  readonly spec: object
}

async function jobOf(from: string, { session }: CommandContext<typeof jobFlags>): Promise<JobParts> {
  const { resource, collection, name } = await resolveOne([from], { session })
  if (resource.kind !== 'CronJob') throw new CommandError(`--from requires a CronJob, but "${from}" is a ${resource.kind}`)
  const { metadata, spec } = (await collection.get(name)) as unknown as CronJob
  const { metadata: templateMetadata = {}, spec: template = {} } = spec?.jobTemplate ?? {}
  const identity = await session.resources.identity()
  return {
    metadata: {
      annotations: { ...templateMetadata.annotations, [identity.label('instantiate', 'cronjob')]: 'manual' },
      ...(templateMetadata.labels === undefined ? {} : { labels: templateMetadata.labels }),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: metadata?.uid ?? '', controller: true }],
    },
    spec: template,
  }
}

export const createCronJob = defineCommand({
  usage: 'create cronjob NAME --image=IMAGE --schedule="0 3 * * *" [--restart=OnFailure|Never] [-- COMMAND…]',
  examples: ['create cronjob nightly --image=busybox --schedule="0 3 * * *" -- date'],
  flags: {
    ...createFlags,
    image: { kind: 'text', help: 'image of the container' },
    schedule: { kind: 'text', help: 'cron schedule: minute, hour, day, month, day of the week' },
    restart: { kind: 'text', initial: 'OnFailure', help: 'restart policy: OnFailure or Never' },
  },
  run: async (context) => {
    const { args, flags, rest } = context
    const name = nameArgument(args)
    const schedule = requireFlag('schedule', flags.schedule)
    const spec = jobSpec(name, requireFlag('image', flags.image), rest, flags.restart)
    const cronJobSpec = { jobTemplate: { metadata: { name }, spec }, schedule }
    return createAndPrint({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name }, spec: cronJobSpec }, context)
  },
})
