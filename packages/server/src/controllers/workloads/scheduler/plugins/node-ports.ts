// NodePorts: host ports that another pod of the node has taken.

import { anyAddress, type HostPort } from '../pod-shape.js'
import { type NodePlugin, refuse } from './plugin.js'

const refusal = refuse("node(s) didn't have free ports for the requested pod ports")

export const nodePorts: NodePlugin = {
  name: 'NodePorts',
  prepare: ({ shape: { ports } }) => {
    if (ports.length === 0) return undefined
    return {
      filter: ({ shapes }) => {
        for (const { ports: taken } of shapes.keys())
          if (taken.some((port) => ports.some((wanted) => collide(port, wanted)))) return refusal
        return undefined
      },
    }
  },
}

const collide = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress)
