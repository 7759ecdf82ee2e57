// Creates a deployment of one image.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'create deployment NAME --image=IMAGE [--replicas=N] [-- COMMAND…]',
  about: 'create a deployment',
  flags: {
    ...createFlags,
    image: { kind: 'list', help: 'the images of its containers' },
    replicas: { kind: 'number', short: 'r', initial: '1', help: 'how many' },
    port: { kind: 'number', help: 'the port that it listens on' },
  },
  run: async (work) => {
    const { args, flags, rest } = work
    const name = nameIn(args)
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
    return createOne({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, labels }, spec }, work)
  },
})
