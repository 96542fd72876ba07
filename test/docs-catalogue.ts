/** The sources that docs/choosing-options.md takes for granted, and how often each was asked. */
const names = new Map([['7', 'gate']])
export const loads = { feed: 0, many: 0, rates: 0, personal: 0 }

export const product = async (id: string): Promise<{ id: string; name: string | undefined }> => ({
  id,
  name: names.get(id),
})

export const rename = async (id: string, name: string): Promise<void> => {
  names.set(id, name)
}

export interface Product {
  readonly id: string
  readonly name: string
}

/** Those that exist. */
export const productsById = async (ids: readonly string[]): Promise<ReadonlyMap<string, Product>> => {
  loads.many += 1
  return new Map(ids.filter((id) => id.length === 1).map((id) => [id, { id, name: `gate ${id}` }]))
}

export const feedPage = async (page: number): Promise<readonly string[]> => {
  loads.feed += 1
  return [`post ${page}`]
}

export const fetchRate = async (currency: string): Promise<{ currency: string; rate: number }> => {
  loads.rates += 1
  return { currency, rate: 1.08 }
}

export const recommendationsFor = async (userId: string): Promise<readonly string[]> => {
  loads.personal += 1
  return [`a gate for ${userId}`]
}
