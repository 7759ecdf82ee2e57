// The ways into a running pod: its containers, their output, its ports.

import { defineConnection } from '../../../api/define-special.js'
import { podAttachOptions, podExecOptions, podLogOptions, podPortForwardOptions } from '../v1.schema.js'

export const attachSubresource = defineConnection({ name: 'attach', connection: 'attach', query: podAttachOptions })
export const execSubresource = defineConnection({ name: 'exec', connection: 'exec', query: podExecOptions })
export const portForwardSubresource = defineConnection({ name: 'portforward', connection: 'portforward', query: podPortForwardOptions })

/** A part of the pod, as clients see it, though it is read elsewhere. */
export const logSubresource = defineConnection({ name: 'log', connection: 'log', kind: 'Pod', verbs: ['get'], query: podLogOptions })
