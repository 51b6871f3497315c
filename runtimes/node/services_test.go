package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// fakeSettings are settings by their full keys.
type fakeSettings map[string]string

func (f fakeSettings) Get(_ context.Context, key string) (json.RawMessage, error) {
	for _, k := range []string{key, "p." + key} {
		if v, ok := f[k]; ok {
			return json.RawMessage(v), nil
		}
	}
	return nil, nil
}

func (f fakeSettings) All(context.Context) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for k, v := range f {
		all[k] = json.RawMessage(v)
	}
	return all, nil
}

// fakeStore is a store in memory that notes what is written.
type fakeStore struct {
	mu     sync.Mutex
	held   map[string]string
	writes []string
}

func (f *fakeStore) Get(_ context.Context, key string) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, ok := f.held[key]; ok {
		return json.RawMessage(v), nil
	}
	return nil, nil
}

func (f *fakeStore) Set(_ context.Context, key string, value json.RawMessage) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == "full" {
		return errors.New("the store is full")
	}
	f.held[key] = string(value)
	f.writes = append(f.writes, key+"="+string(value))
	return nil
}

func (f *fakeStore) Delete(_ context.Context, key string) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, had := f.held[key]
	delete(f.held, key)
	f.writes = append(f.writes, key+" gone")
	return had, nil
}

func (f *fakeStore) List(_ context.Context, prefix string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := []string{}
	for _, k := range slices.Sorted(maps.Keys(f.held)) {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

var (
	_ runtimes.Settings = fakeSettings{}
	_ runtimes.Store    = (*fakeStore)(nil)
)

func TestServices(t *testing.T) {
	settings := fakeSettings{"p.text": `"ü\u2028"`, "p.n": `1e3`, "p.on": `false`, "p.__proto__": `"mine"`}
	for name, test := range map[string]struct{ body, want string }{
		"settings": {`const s = ctx.settings; return [await s.get('text'), await s.get('p.n'), await s.get('on'), await s.get('nothing') === undefined, s.get('on') instanceof Promise]`,
			`["ü` + "\u2028" + `",1000,false,true,true]`},
		"all settings": {`const all = await ctx.settings.getAll(); return [Object.keys(all), all['p.n'], Object.getPrototypeOf(all) === Object.prototype]`,
			`[["p.__proto__","p.n","p.on","p.text"],1000,true]`},
		"store": {`const s = ctx.store; const out = [await s.get('k') === undefined, await s.set('k', { a: [1, 'ü', null] }), await s.get('k'), await s.list(), await s.list('x'), await s.delete('k'), await s.delete('k'), await s.get('k') === undefined]; return out`,
			`[true,null,{"a":[1,"ü",null]},["k"],[],true,false,true]`},
		"values": {`const s = ctx.store; const out = []; for (const v of [null, 0, -0, '', false, [], NaN, new Date(0), { toJSON: () => 'own' }]) { await s.set('k', v); out.push(await s.get('k')); } await s.set('k'); out.push(await s.get('k') === undefined); await s.set('k', () => 1); out.push(await s.list()); return out`,
			`[null,0,0,"",false,[],null,"1970-01-01T00:00:00.000Z","own",true,[]]`},
		"copies": {`const v = { n: 1 }; const done = ctx.store.set('k', v); v.n = 2; await done; const a = await ctx.store.get('k'); a.n = 3; return [a, await ctx.store.get('k')]`, `[{"n":3},{"n":1}]`},
		"misuse": {`const cycle = {}; cycle.me = cycle; const out = [];
			for (const f of [() => ctx.settings.get(), () => ctx.settings.get(5), () => ctx.store.get(), () => ctx.store.get({}), () => ctx.store.set(1, 2), () => ctx.store.delete(), () => ctx.store.list(5), () => ctx.store.set('k', cycle), () => ctx.store.set('k', 5n),
				() => ctx.store.set('k', { toJSON() { throw new RangeError('mine'); } }), () => ctx.store.set('k', 'x'.repeat(2 ** 20)), () => ctx.store.set('full', 1), () => ctx.execute(), () => ctx.execute('c', cycle), () => ctx.ai.complete(), () => ctx.ai.complete({ get prompt() { throw new Error('mine'); } })]) {
				let thrown = 'threw'; let p; try { p = f(); thrown = ''; } catch {}
				out.push(thrown + await Promise.resolve(p).then(() => 'resolved', (e) => e.name + (e.message.includes('mine') ? ' mine' : '')));
			} return out.join()`,
			"TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,TypeError,RangeError mine,RangeError,Error,TypeError,TypeError,TypeError,Error mine"},
		"full": {`return ctx.store.set('full', 1).catch((e) => e.message)`, "the store is full"},
	} {
		t.Run(name, func(t *testing.T) {
			services := runtimes.Services{Settings: settings, Store: &fakeStore{held: map[string]string{}}}
			text, log, _ := handleWith(t, services, &permissions.Policy{Settings: true, Store: true, HostTrigger: true, AIComplete: true}, test.body)
			if text != test.want {
				t.Errorf("got  %s\nwant %s\n%s", text, test.want, log)
			}
		})
	}
}

// TestPromptImages: a model sees the images of a prompt, or the handler hears why not.
func TestPromptImages(t *testing.T) {
	services := runtimes.Services{Complete: func(_ context.Context, _ *host.Call, prompt *host.Prompt) (string, error) {
		for _, image := range prompt.Images {
			prompt.Text += " " + image.MIMEType + "=" + string(image.Data)
		}
		return prompt.Text, nil
	}}
	text, log, _ := handleWith(t, services, &permissions.Policy{AIComplete: true}, `
		const png = 'data:image/png;base64,' + Buffer.from('pixels').toString('base64');
		const out = [await ctx.ai.complete('see', { imageUrls: [png, 'DATA:image/svg+xml;charset=utf-8;BASE64,eA=='], temperature: 0.2, maxTokens: 5 }),
			await ctx.ai.complete({ prompt: 'see', imageUrls: [png] }), await ctx.ai.complete('no', { imageUrls: null }), await ctx.ai.complete('none', {})];
		for (const imageUrls of [png, [5], new Array(2 ** 32 - 1), ['https://example.com/a.png'], ['data:text/html;base64,eA=='], ['data:image/png,x'], ['data:image/png;base64,*'], ['data:image/png;base64,'], ['data:'],
			Array(17).fill(png), ['data:image/png;base64,' + 'A'.repeat(4 * 7.1e6)], [png, 'data:image/png;base64,' + 'A'.repeat(4 * 6990506)], { get 0() { throw 5 }, length: 1 }]) {
			out.push(await ctx.ai.complete('see', { imageUrls }).catch((e) => e.name + ' ' + e.message));
		}
		return out.join('\n');`)
	want := `see image/png=pixels image/svg+xml=x
see image/png=pixels
no
none
TypeError imageUrls of ai.complete is a list of data: URLs
TypeError imageUrls[0] of ai.complete is no string
TypeError imageUrls[0] of ai.complete is no string
TypeError imageUrls[0]: not a data: URL; read or fetch the image, and give it as "data:image/png;base64,…"
TypeError imageUrls[0]: the data: URL is of the type "text/html", which is no image
TypeError imageUrls[0]: the data: URL is not in base64, as in "data:image/png;base64,…"
TypeError imageUrls[0]: the data: URL is no base64: illegal base64 data at input byte 0
TypeError imageUrls[0]: the data: URL is empty
TypeError imageUrls[0]: the data: URL is not in base64, as in "data:image/png;base64,…"
TypeError imageUrls has 17 images; the limit is 16
TypeError imageUrls[0]: the image has more than 20971520 bytes
TypeError imageUrls has more than 20971520 bytes of images
TypeError imageUrls of ai.complete is a list of data: URLs`
	if text != want {
		t.Errorf("got  %s\nwant %s\n%s", text, want, log)
	}
}

// TestStoreUnawaited: writes that nobody awaits are made, in the order of the script, and a
// read sees those before it.
func TestStoreUnawaited(t *testing.T) {
	store := &fakeStore{held: map[string]string{}}
	text, log, _ := handleWith(t, runtimes.Services{Store: store}, &permissions.Policy{Store: true}, `
		for (let i = 0; i < 200; i++) ctx.store.set('n', i);
		const seen = ctx.store.get('n');
		ctx.store.delete('n');
		ctx.store.set('last', true);
		return seen;`)
	want := []string{}
	for i := range 200 {
		raw, err := json.Marshal(i)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, "n="+string(raw))
	}
	want = append(want, "n gone", "last=true")
	if !slices.Equal(store.writes, want) {
		t.Errorf("got %q\n%s", store.writes, log)
	}
	if text != "199" {
		t.Errorf("the read gave %s", text)
	}
}
