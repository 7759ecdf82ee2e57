// How many nodes of a zone may get a NoExecute taint per second, by the share of its nodes that are not ready.

export interface ZoneNodes {
  readonly ready: number
  readonly notReady: number
}

type ZoneState = 'normal' | 'partial disruption' | 'full disruption'

/** Defaults of --unhealthy-zone-threshold, --large-cluster-size-threshold and the eviction rates of kube-controller-manager. */
const unhealthyShare = 0.55
const largeZoneNodes = 50
const evictionsPerSecond = 0.1
const reducedEvictionsPerSecond = 0.01

export function zoneStateOf({ ready, notReady }: ZoneNodes): ZoneState {
  if (ready === 0 && notReady > 0) return 'full disruption'
  return notReady > 2 && notReady / (ready + notReady) >= unhealthyShare ? 'partial disruption' : 'normal'
}

/** Pause between two nodes of the zone; undefined: none is tainted. */
export function evictionIntervalMs(zone: ZoneNodes): number | undefined {
  if (zoneStateOf(zone) !== 'partial disruption') return 1000 / evictionsPerSecond
  return zone.ready + zone.notReady > largeZoneNodes ? 1000 / reducedEvictionsPerSecond : undefined
}

/** With no ready node at all, the server assumes that it lost the network, not the nodes. */
export const isAllDisrupted = (zones: Iterable<ZoneNodes>): boolean => {
  const states = [...zones].map(zoneStateOf)
  return states.length > 0 && states.every((state) => state === 'full disruption')
}
